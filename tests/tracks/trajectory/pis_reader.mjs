// Prints what Pi's own session reader makes of files: node pis_reader.mjs <pi's session-manager.js> <task.json>
// The task names copies of sessions, for Pi may rewrite what it opens, and leaves from which it is to make forks.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , reader, task] = process.argv;
const { SessionManager } = await import(pathToFileURL(reader).href);
const { files, forks } = JSON.parse(readFileSync(task, "utf8"));

const read = (file) => {
  const session = SessionManager.open(file);
  const entries = session.getEntries();
  const parents = new Set(entries.map((entry) => entry.parentId));
  const leaves = entries.filter((entry) => !parents.has(entry.id)).map((entry) => entry.id);
  return {
    entries: entries.map((entry) => [entry.id, entry.parentId, entry.type, entry.message?.role ?? null]),
    paths: Object.fromEntries(leaves.map((leaf) => [leaf, session.getBranch(leaf).map((entry) => entry.id)])),
  };
};

const fork = ({ file, leaf }) => SessionManager.open(file).createBranchedSession(leaf) ?? null;

process.stdout.write(JSON.stringify({ read: files.map(read), forks: forks.map(fork) }));
