/**
 * Retries calls that fail only for a short time, for example because another program has locked a database. The
 * Workers of `npm start` use this file, too.
 */
const [ATTEMPTS, WAIT_MS] = [6, 50];
const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/**
 * Matches the messages of local databases that another program, such as `npm start`, has locked. SQLite's own
 * message does not always reach the caller.
 */
export const LOCKED =
  /SQLITE_BUSY|database is locked|KV \w+ failed: 500|Network connection lost|internal error; reference/;

/**
 * Runs a function until it succeeds, at most six times within about three seconds.
 * @template T
 * @param {RegExp} passes matches the messages of errors that are temporary
 * @param {() => Promise<T>} act safe to run twice
 * @returns {Promise<T>}
 */
export async function retried(passes, act) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await act();
    } catch (error) {
      if (attempt === ATTEMPTS || !passes.test(error.message)) throw error;
      await sleep(WAIT_MS * 2 ** attempt * (0.5 + Math.random()));
    }
  }
}
