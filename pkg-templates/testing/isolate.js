/** An instance of the compiled service: the Worker itself, with a platform of its own. */
import { compile } from "#module";
import { instantiate } from "#worker";

/** What the Worker takes for a `Response`: its parts are read here, and the platform's is made in the end. */
class Answer {
  constructor(body, { status = 200, headers = new Map() } = {}) {
    Object.assign(this, { status, headers, body });
  }

  /** Of a stored value, which is bytes here, not a stream. */
  async arrayBuffer() {
    return this.body;
  }
}

/** @returns {(request: object, env: object) => Promise<Answer>} rejected if the instance breaks */
export function startIsolate({ clock, random }) {
  const waiting = new Set(),
    resolved = Promise.resolve();
  const broke = (cause) => {
    for (const reject of waiting) reject(cause);
  };
  const fetch = instantiate({
    module: compile(),
    Date: { now: clock.now },
    setTimeout: clock.setTimeout,
    clearTimeout: clock.clearTimeout,
    crypto: { getRandomValues: random },
    queueMicrotask: (task) => void resolved.then(task).catch(broke),
    console: { log() {}, error() {} }, // a test prints what it wants to
    Headers: Map,
    Response: Answer,
  });
  return (request, env) =>
    new Promise((resolve, reject) => {
      waiting.add(reject);
      fetch(request, env, {})
        .then(resolve, reject)
        .finally(() => waiting.delete(reject));
    });
}
