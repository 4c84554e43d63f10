/* An instance of the compiled Worker, on a simulated platform. */
import { compile } from "#module";
import { instantiate } from "#worker";
import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

/** The objects that the Worker uses in place of the platform's globals. */
export interface Platform {
  readonly module: WebAssembly.Module;
  readonly Date: { readonly now: () => number };
  readonly setTimeout: Clock["setTimeout"];
  readonly clearTimeout: Clock["clearTimeout"];
  readonly crypto: { readonly getRandomValues: Random };
  readonly queueMicrotask: (task: () => void) => void;
  readonly console: { log(): void; error(): void };
  readonly Headers: MapConstructor;
  readonly Request: typeof Post;
  readonly Response: typeof Answer;
}

/** A delivery of a message of the queue. */
export interface Delivered {
  readonly body: object;
  /** The number of this delivery, starting at 1. */
  readonly attempts: number;
  readonly ack: () => void;
  readonly retry: (options: { readonly delaySeconds: number }) => void;
}

/** The state of a notification that is being sent, as in `src/doors/cloudflare/recover.js`. */
export interface Sending {
  readonly token: string;
  /** Gets the record that the notification was sent, as JSON, when it is handed over. */
  readonly begin: (sent: unknown, records: unknown, name: string, marker: Uint8Array) => void;
}

/** The Worker. `fetch` ignores the context. */
export interface Worker {
  readonly fetch: (request: object, env: object, context: object) => Promise<Answer>;
  readonly deliver: (
    message: Delivered,
    queue: string,
    env: object,
    sending: Sending,
  ) => Promise<void>;
}

/** Stands in for the class `Request` in the Worker, which makes requests to adapters. */
export class Post {
  declare readonly url: string;
  /** The body; undefined if the Worker only asks for the URL in its normal form. */
  declare readonly body: Uint8Array | undefined;

  constructor(url: string, init?: { readonly body: Uint8Array }) {
    Object.assign(this, { url, body: init?.body });
  }
}

/**
 * Stands in for the class `Response` in the Worker. `http.ts` creates the platform's `Response` from the
 * parts of an `Answer`.
 */
export class Answer {
  declare readonly status: number;
  declare readonly headers: Map<string, string>;
  declare readonly body: Uint8Array | undefined;

  constructor(body: unknown, { status = 200, headers = new Map<string, string>() } = {}) {
    Object.assign(this, { status, headers: new Map(headers), body }); // a copy: the Worker reuses the headers
  }

  /** Returns the body. It consists of bytes already, because the test store returns no streams. */
  async arrayBuffer() {
    return this.body;
  }
}

/** An instance of the Worker. Its calls reject if the instance breaks. */
export interface Isolate {
  /** Serves a request with this ID. */
  readonly serve: (request: object, env: object, id: string) => Promise<Answer>;
  readonly deliver: (message: Delivered, env: object, sending: Sending) => Promise<void>;
}

export function startIsolate({ clock, random }: { clock: Clock; random: Random }): Isolate {
  const waiting = new Set<(cause: unknown) => void>(),
    resolved = Promise.resolve();
  const broke = (cause: unknown) => {
    for (const reject of waiting) reject(cause);
  };
  const worker = instantiate({
    module: compile(),
    Date: { now: clock.now },
    setTimeout: clock.setTimeout,
    clearTimeout: clock.clearTimeout,
    crypto: { getRandomValues: random },
    queueMicrotask: (task) => void resolved.then(task).catch(broke),
    console: { log() {}, error() {} }, // tests have their own output
    Headers: Map,
    Request: Post,
    Response: Answer,
  });

  /** Settles like `call`, and rejects if the instance breaks. */
  const guarded = <T>(call: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.add(reject);
      call()
        .then(resolve, reject)
        .finally(() => waiting.delete(reject));
    });

  return {
    serve: (request, env, id) => guarded(() => worker.fetch(request, env, { id })),
    deliver: (message, env, sending) =>
      guarded(() => worker.deliver(message, "notifications", env, sending)),
  };
}
