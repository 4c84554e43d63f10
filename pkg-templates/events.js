/** What the hooks and the logger of a client learn: copies without the API key. Neither can change or break a call. */

/** From silence to everything. */
export const LEVELS = ["off", "error", "warn", "info", "debug"];

/** Of each event its hook, its level, and its line in the log. */
const EVENTS = {
  request: [
    "onRequest",
    "debug",
    ({ method, url, attempt }) => `${method} ${url}, attempt ${attempt}`,
  ],
  response: [
    "onResponse",
    "debug",
    ({ method, url, status, durationMs }) => `${method} ${url}: ${status} after ${durationMs} ms`,
  ],
  retry: ["onRetry", "warn", ({ reason, waitMs }) => `again in ${waitMs} ms: ${reason}`],
  failure: ["", "error", ({ name, message }) => `${name}: ${message}`],
};

/** @param {object} options of the client @returns {(event: keyof typeof EVENTS, describe: () => object) => void} */
export function reporter({ logger = globalThis.console, logLevel, ...hooks }) {
  const level = LEVELS.indexOf(logLevel);
  const log = (at, line, info) =>
    level >= LEVELS.indexOf(at) && runSafely(() => logger[at](`impact-pledge: ${line}`, info));
  return (event, describe) => {
    const [name, at, line] = EVENTS[event],
      hook = hooks[name];
    if (!hook && level < LEVELS.indexOf(at)) return;
    const info = Object.freeze(describe());
    log(at, line(info), info);
    if (hook)
      runSafely(
        () => hook(info),
        (error) => log("error", `\`${name}\` failed`, error),
      );
  };
}

/** Runs what may throw, at once or later: the call goes on. */
async function runSafely(work, failed) {
  try {
    await work();
  } catch (error) {
    failed?.(error);
  }
}
