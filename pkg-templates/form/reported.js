/** Issues that a server found: whatever they are, reading them is bounded and throws nothing. */
const MOST = 1_000; // issues, and characters of each text
const MOST_STEPS = 9;
const CODE = /^(required|[a-z]+(_[a-z]+)+)$/; // no member that every object has

/** The `issues` of an answer or of an error, if it has any. @returns {unknown[] | undefined} */
export function issuesOf(value) {
  return quietly(() =>
    Array.isArray(value.issues) && value.issues.length > 0 ? value.issues : undefined,
  );
}

/** The first issues, without those that have no message. */
export function readIssues(issues) {
  const length = quietly(() => Math.min(issues.length, MOST)) || 0;
  return Array.from({ length }, (_, index) => quietly(() => readIssue(issues[index]))).filter(
    Boolean,
  );
}

function readIssue({ path, pointer, code, message, meta }) {
  if (typeof message !== "string" || !message.trim()) return undefined;
  const steps = Array.isArray(path)
    ? path.slice(0, MOST_STEPS).map(stepOf)
    : String(pointer ?? "")
        .slice(0, MOST)
        .split("/", MOST_STEPS)
        .slice(1);
  return {
    path: steps,
    pointer: ["", ...steps].join("/"),
    code: CODE.test(code) ? code : "",
    meta,
    message: message.slice(0, MOST),
  };
}

/** One that is an object names its key, as Standard Schema allows. */
const stepOf = (step) => String(step?.key ?? step).slice(0, MOST);

export function quietly(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}
