/**
 * Calls the part of Cloudflare's REST API that the commands need: accounts, Workers, Workers KV, D1, R2 and queues. The official
 * package `cloudflare` has 17,000 files (120 MB), too many for these few calls.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { UserError, log } from "./output.mjs";
import { run } from "./run.mjs";

const [ATTEMPTS, WAIT_MS, MOST_WAIT_MS] = [3, 500, 300_000]; // the API's rate limit counts calls of five minutes
const LOGIN_MS = 60_000;
const [PAGE, MOST_PAGES] = [100, 100]; // items in a page of a list, and pages
const NEEDED =
  "the token needs the permissions `Workers KV Storage: Edit` and `Workers Scripts: Read`. It also needs `Queues: Edit` to resend e-mails, `D1: Edit` for the ledger, and `Workers R2 Storage: Edit` for pictures";

/** Makes calls to Cloudflare's API for one account. Each call has a deadline. */
export class Cloudflare {
  #base;
  #headers;
  #deadline;

  /**
   * Prepares calls with these headers.
   * @param {{base: string, headers: Record<string, string>, account?: string, deadline: number}} access
   *   `deadline` of each call, in milliseconds
   */
  constructor({ base, headers, account, deadline }) {
    this.#base = base;
    this.#headers = headers;
    this.#deadline = deadline;
    this.account = account ?? "";
  }

  /**
   * Signs in with CLOUDFLARE_API_TOKEN if it is set, or otherwise with the login of `wrangler login`.
   * @param {{root: string, project?: string, env: NodeJS.ProcessEnv, wrangler: string}} tools
   * @param {{account?: string, deadline: number}} options `account`: the account's ID in wrangler.toml
   */
  static async open({ root, project = root, env, wrangler }, { account, deadline }) {
    const base = env.CLOUDFLARE_API_BASE_URL || "https://api.cloudflare.com/client/v4";
    const headers = env.CLOUDFLARE_API_TOKEN
      ? { authorization: `Bearer ${env.CLOUDFLARE_API_TOKEN}` }
      : await login({ project, env, wrangler });
    const cloudflare = new Cloudflare({
      base,
      headers,
      deadline,
      account: env.CLOUDFLARE_ACCOUNT_ID || account,
    });
    cloudflare.account ||= await cloudflare.#onlyAccount();
    return cloudflare;
  }

  async #onlyAccount() {
    const { result } = await this.#call("find the account", "GET", "/accounts?per_page=50");
    if (result?.length === 1) return result[0].id;
    const list = (result ?? []).map(({ id, name }) => `${id} (${name})`).join(", ") || "none";
    throw new UserError(`set CLOUDFLARE_ACCOUNT_ID: the accounts of this login are ${list}`);
  }

  /**
   * Makes a call, and retries the call after temporary errors.
   * @returns {Promise<{result: any, result_info?: any}>}
   * @param {string} purpose for messages, such as `list names`
   */
  call = (purpose, method, path, body = undefined) =>
    this.#call(purpose, method, `/accounts/${encodeURIComponent(this.account)}${path}`, body);

  /**
   * Makes a call as `call` does, but without retries. It is meant for calls that may take effect although they
   * fail, so that repeating them may not be safe.
   * @returns {Promise<{result: any}>}
   */
  callOnce = (purpose, method, path, body) =>
    this.#call(purpose, method, `/accounts/${encodeURIComponent(this.account)}${path}`, body, {
      attempts: 1,
    });

  /** Returns all items of a list that is divided into pages. @returns {Promise<any[]>} */
  async all(purpose, path) {
    const items = [];
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const query = `per_page=${PAGE}&page=${page}`;
      const { result, result_info: about } = await this.call(purpose, "GET", `${path}?${query}`);
      if (!Array.isArray(result)) break;
      items.push(...result);
      if (result.length === 0 || items.length >= (about?.total_count ?? 0)) return items;
    }
    throw new UserError(`Cloudflare's API can't ${purpose}: the answer is not a list that ends`);
  }

  /**
   * Returns the bindings of a Worker; an empty list if the Worker does not exist.
   * @param {string} worker
   * @returns {Promise<any[]>}
   */
  bindingsIfAny = (worker) =>
    this.bindings(worker).catch((error) => {
      if (error.status === 404) return [];
      throw error;
    });

  /** Returns the bindings of a Worker. @param {string} worker @returns {Promise<any[]>} */
  async bindings(worker) {
    const purpose = `show the Worker \`${worker}\` of the account ${this.account}`;
    const path = `/workers/scripts/${worker}/settings`;
    const { result } = await this.call(purpose, "GET", path).catch((error) => {
      if (error.status !== 404) throw error;
      const problem = `the account ${this.account} has no Worker \`${worker}\`: deploy it first`;
      throw Object.assign(new UserError(`${problem} (${error.message})`), { status: 404 });
    });
    return result?.bindings ?? [];
  }

  /**
   * Returns the e-mail address of the signed-in user. If the token may not read the address, returns the
   * token's ID.
   * @returns {Promise<string>}
   */
  async user() {
    const account = `/accounts/${encodeURIComponent(this.account)}`;
    for (const path of ["/user", "/user/tokens/verify", `${account}/tokens/verify`]) {
      const { result } = await this.#call("identify the user", "GET", path).catch((error) => {
        if (error.status >= 400 && error.status < 500) return { result: null };
        throw error;
      });
      if (result?.email) return result.email;
      if (result?.id) return `token ${result.id}`;
    }
    throw new UserError("Cloudflare's API does not say who you are: give your name with `--by`");
  }

  /** Makes a GET call, and returns the bytes of its answer. @returns {Promise<Buffer>} */
  bytes = async (purpose, path, headers = {}) =>
    (
      await this.#call(
        purpose,
        "GET",
        `/accounts/${encodeURIComponent(this.account)}${path}`,
        undefined,
        { isRaw: true, headers },
      )
    ).result;

  /** Writes bytes. @param {string} purpose @param {string} path @param {Uint8Array} bytes */
  upload = async (purpose, path, bytes, headers = {}) => {
    const whole = `/accounts/${encodeURIComponent(this.account)}${path}`;
    await this.#call(purpose, "PUT", whole, bytes, { headers });
  };

  /**
   * Makes a call, and retries the call after temporary errors. `attempts` is 1 for calls that are not safe to
   * retry.
   */
  async #call(
    purpose,
    method,
    path,
    body,
    { isRaw = false, attempts = ATTEMPTS, headers = {} } = {},
  ) {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#once(method, path, body, { isRaw, headers });
      if (answer.json?.success) return answer.json;
      if (!answer.passes || attempt === attempts)
        throw Object.assign(new UserError(`Cloudflare's API can't ${purpose}: ${reason(answer)}`), {
          status: answer.status,
          said: answer.json?.errors?.[0]?.message,
        });
      const wait = Math.min(answer.retryAfterMs ?? WAIT_MS * 2 ** attempt, MOST_WAIT_MS);
      if (wait > 5_000)
        log(`Cloudflare's API asks to wait: retrying in ${Math.round(wait / 1000)} s`);
      await sleep(wait);
    }
  }

  /**
   * Makes one attempt of a call. The deadline covers everything from connecting to the last byte of the
   * answer.
   */
  async #once(method, path, body, { isRaw, headers }) {
    const isBytes = body instanceof Uint8Array;
    /** @type {Record<string, string>} */
    const type = body === undefined || isBytes ? {} : { "content-type": "application/json" };
    const options = {
      method,
      headers: { ...this.#headers, ...type, ...headers },
      body: isBytes ? body : body && JSON.stringify(body),
      signal: AbortSignal.timeout(this.#deadline),
    };
    try {
      const response = await fetch(this.#base + path, options);
      const bytes = Buffer.from(await response.arrayBuffer());
      if (isRaw && response.ok) return { json: { success: true, result: bytes } };
      const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
      return {
        status: response.status,
        json: parsed(bytes.toString()),
        passes: response.status === 429 || response.status >= 500,
        retryAfterMs: seconds >= 0 ? seconds * 1000 : undefined,
      };
    } catch (error) {
      const cause =
        error.name === "TimeoutError"
          ? `no answer within ${this.#deadline / 1000} s`
          : `no connection (${error.cause?.code ?? error.message})`;
      return { cause, passes: true };
    }
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** @param {{cause?: string, status?: number, json?: any}} answer */
function reason({ cause, status, json }) {
  if (cause) return cause;
  const errors = (json?.errors ?? []).map(({ code, message }) => `${message} [${code}]`).join("; ");
  return [`status ${status}`, errors, status === 401 || status === 403 ? NEEDED : ""]
    .filter(Boolean)
    .join("; ");
}

/**
 * Returns headers with the login token that wrangler stores and renews.
 * @returns {Promise<Record<string, string>>}
 */
async function login({ project, env, wrangler }) {
  const output = await run(process.execPath, [wrangler, "auth", "token", "--json"], {
    cwd: project,
    env,
    timeout: LOGIN_MS,
  }).catch(() => "");
  const { token, key, email } = parsed(output) ?? {};
  if (token) return { authorization: `Bearer ${token}` };
  if (key && email) return { "x-auth-key": key, "x-auth-email": email };
  throw new UserError(
    "not logged in to Cloudflare: run `npx wrangler login`, or set CLOUDFLARE_API_TOKEN and CLOUDFLARE_ACCOUNT_ID",
  );
}
