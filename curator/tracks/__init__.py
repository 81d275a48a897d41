"""What learns from more than one job, beside the path of a job: nothing that reviews a job knows of it."""
