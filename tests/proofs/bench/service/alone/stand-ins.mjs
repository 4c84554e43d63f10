/**
 * Stand-ins for the platform, with only what the service needs. Node's own `Request`, `Response` and `Headers` would
 * take most of the time.
 */

class StandInHeaders {
  #values;

  constructor(from) {
    this.#values = new Map(
      from instanceof StandInHeaders ? from.#values : Object.entries(from ?? {}),
    );
  }

  get(name) {
    return this.#values.get(name) ?? this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name) {
    return this.get(name) !== null;
  }

  set(name, value) {
    this.#values.set(name.toLowerCase(), value);
  }
}

/** A body that can be read as a whole, as bytes, text or JSON. It cannot be read piece by piece. */
class StandInBody {
  #bytes;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.#bytes = bytes;
  }

  async arrayBuffer() {
    return (await this.bytes()).buffer;
  }

  async bytes() {
    return new Uint8Array(this.#bytes); // a copy, unlike a Buffer's slice
  }

  async text() {
    return Buffer.from(this.#bytes).toString();
  }

  async json() {
    return JSON.parse(await this.text());
  }

  getReader() {
    throw new Error("a stand-in is not read piece by piece");
  }
}

export class StandInRequest extends StandInBody {
  /**
   * Creates a request of the stand-in platform.
   * @param {import("../requests.mjs").Request} request
   * @param {Uint8Array} bytes the bytes of the body
   */
  constructor({ method, path, headers }, bytes) {
    super(bytes);
    this.method = method;
    this.url = `http://127.0.0.1${path}`;
    this.headers = new StandInHeaders(headers);
    this.body = method === "POST" ? this : null;
  }
}

const EMPTY = new Uint8Array();

class StandInResponse {
  /** @param {StandInBody | Uint8Array | string | null} [body] @param {any} [init] */
  constructor(body = null, { status = 200, headers = {} } = {}) {
    this.status = status;
    this.headers = new StandInHeaders(headers);
    this.body = body;
  }

  static json(value, init) {
    return new StandInResponse(JSON.stringify(value), init);
  }

  #read() {
    const { body } = this;
    if (body instanceof StandInBody) return body;
    return new StandInBody(typeof body === "string" ? Buffer.from(body) : (body ?? EMPTY));
  }

  arrayBuffer = () => this.#read().arrayBuffer();
  bytes = () => this.#read().bytes();
  text = () => this.#read().text();
  json = () => this.#read().json();
}

/**
 * A KV namespace in memory. Calls that are made in one turn of the event loop are all answered in the next
 * turn.
 */
export class StandInKv {
  /** @type {Map<string, {bytes: Uint8Array, metadata: object | null}>} */
  records = new Map();
  /**
   * Whether writes are stored. False during the load test, so that the writes of create requests are dropped.
   */
  isKept = true;
  #waiting = [];

  #answer(value) {
    if (this.#waiting.length === 0) setImmediate(this.#flush);
    return new Promise((resolve) => this.#waiting.push(resolve, value));
  }

  #flush = () => {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let index = 0; index < waiting.length; index += 2) waiting[index](waiting[index + 1]);
  };

  getWithMetadata(name, options) {
    const record = this.records.get(name);
    if (!record) return this.#answer({ value: null, metadata: null, cacheStatus: null });
    const value = new StandInBody(record.bytes);
    const type = typeof options === "string" ? options : (options?.type ?? "text");
    const read = type === "stream" ? value : value[type]();
    const { metadata } = record;
    return read === value
      ? this.#answer({ value, metadata, cacheStatus: null })
      : read.then((value) => this.#answer({ value, metadata, cacheStatus: null }));
  }

  async get(name, options) {
    return (await this.getWithMetadata(name, options)).value;
  }

  put(name, bytes, { metadata = null } = {}) {
    if (this.isKept) this.records.set(name, { bytes: Uint8Array.from(bytes), metadata });
    return this.#answer(undefined);
  }

  /** @returns {Promise<{value: string, metadata: any}>} */
  async read(name) {
    const { bytes, metadata } = this.records.get(name) ?? { bytes: "", metadata: null };
    return { value: Buffer.from(bytes).toString(), metadata };
  }

  /** @param {{key: string, value: string, metadata?: any}} entry */
  async write({ key, value, metadata = null }) {
    this.records.set(key, { bytes: Buffer.from(value), metadata });
  }
}

/** The last line that the Worker logged. */
export let lastLine = "";

/**
 * Replaces some of Node's globals with stand-ins. A log line then costs only the time to build it, because it is not
 * written.
 */
export function installStandIns() {
  Object.assign(globalThis, {
    Response: StandInResponse,
    Headers: StandInHeaders,
    addEventListener: () => {},
  });
  console.log = console.error = (line) => {
    lastLine = line;
  };
}
