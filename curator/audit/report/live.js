// Keeps a served page the newest: asks whether it has changed, and puts the new figures in the place of the old ones.
// What was opened stays open, and who reads or types is not moved.
const every = 5000;
let tag = null;
let timer;

async function look() {
  const asked = await fetch(location.href, { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
  if (asked.status === 200) {
    const isNew = tag !== null;
    tag = asked.headers.get("ETag");
    if (isNew) show(new DOMParser().parseFromString(await asked.text(), "text/html"));
  }
}

function show(fresh) {
  const states = new Map([...document.querySelectorAll("details")].map((each) => [name(each), each.open]));
  const focused = document.activeElement?.closest("[id]")?.id;
  for (const part of ["as-of", "main"]) {
    document.getElementById(part).replaceWith(document.adoptNode(fresh.getElementById(part)));
  }
  for (const each of document.querySelectorAll("details")) {
    if (states.has(name(each))) each.open = states.get(name(each));
  }
  if (focused) document.getElementById(focused)?.querySelector("summary, a, [tabindex]")?.focus({ preventScroll: true });
}

function name(details) {
  return details.id || details.closest("[id]")?.id;
}

async function watch() {
  clearTimeout(timer);
  let next = every;
  try {
    if (!document.hidden) await look();
    document.body.classList.remove("away");
  } catch {
    document.body.classList.add("away");
    next = every * 4;
  }
  timer = setTimeout(watch, next);
}

document.addEventListener("visibilitychange", watch);
watch();
