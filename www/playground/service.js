/** The service in the page: requests with faults, timelines, and the e-mail of a request in each language. */
import { LANGUAGES } from "./languages.js";

const PATH = "/v2/pledge-transaction";
const API_KEY = "service_sk_test_dev_unit";
const SLOW_MS = 3_000;

/**
 * What can go wrong, by the name of the fault: its label, what it does, and the faults of the test service.
 * @type {Record<string, {label: string, hint: string, faults: import("impact-pledge/testing").TestFault[]}>}
 */
export const FAULTS = {
  none: { label: "None", hint: "", faults: [] },
  answer: {
    label: "Answer lost",
    hint: "The service records the request, but the connection breaks before the answer. Create again with the same idempotency key.",
    faults: [{ operation: "create", fault: "lost answer" }],
  },
  late: {
    label: "KV late",
    hint: "Workers KV does not show the new record yet: the first read and the first timeline answer 404.",
    faults: [
      { operation: "get", status: 404 },
      { operation: "timeline", status: 404 },
    ],
  },
  write: {
    label: "Write fails",
    hint: "Workers KV does not confirm the write: the answer is a 503, and the service cannot say whether it was recorded.",
    faults: [{ operation: "create", fault: "lost write" }],
  },
  slow: {
    label: "Slow answer",
    hint: `The answer comes after ${SLOW_MS / 1_000} seconds.`,
    faults: [{ operation: "create", fault: "slow", delayMs: SLOW_MS }],
  },
  down: {
    label: "Service down",
    hint: "The answer is a 503, and nothing is recorded.",
    faults: [{ operation: "create", status: 503 }],
  },
};

/** @typedef {{method: string, path: string, status: number | null, headers: [string, string][], text: string, ms: number}} Exchange */

/** Loads the service, and returns the functions of the page. */
export async function loadService() {
  const { createTestService } = await import("impact-pledge/testing");
  const service = createTestService();
  return {
    transactionCount: () => service.transactions().length,
    messagesAbout: (id) => service.messages().filter(({ transactionId }) => transactionId === id),
    isMailed: (id) => service.emails().some(({ transactionId }) => transactionId === id),
    reset: service.reset,

    /** Sends a create request, with a fault. @param {{text: string, key: string, fault: string}} request */
    create({ text, key, fault }) {
      service.restore();
      for (const each of FAULTS[fault].faults) service.fail(each);
      return exchange(service, PATH, {
        method: "POST",
        headers: {
          authorization: `Bearer ${API_KEY}`,
          "content-type": "application/json",
          ...(key && { "idempotency-key": key }),
        },
        body: text,
      });
    },
    read: (id) =>
      exchange(service, `${PATH}/${id}`, { headers: { authorization: `Bearer ${API_KEY}` } }),
    timeline: (url, language) =>
      exchange(service, url, { headers: { "accept-language": language } }),
    mailer: (text) => newMailer(createTestService, service.now(), text),
  };
}

/** @returns {Promise<Exchange>} `status` is null if the connection broke */
async function exchange({ fetch, baseUrl }, path, init) {
  const { pathname } = new URL(path, baseUrl);
  const start = performance.now();
  const about = { method: init.method ?? "GET", path: pathname };
  const took = () => performance.now() - start;
  try {
    const response = await fetch(new URL(path, baseUrl), init);
    const text = await response.text();
    return { ...about, status: response.status, headers: [...response.headers], text, ms: took() };
  } catch {
    return { ...about, status: null, headers: [], text: "", ms: took() };
  }
}

/**
 * Returns a function that returns the e-mail about a request in a language. The language is that of the shop's profile, so
 * each language has a unit of its own.
 */
function newMailer(createTestService, now, text) {
  const keys = LANGUAGES.map((language) => ({
    key: `service_sk_test_${language}`,
    mode: "test",
    unitId: `unit_dev_${language}`,
  }));
  let service;
  return async (language) => {
    service ??= createTestService({ now, keys });
    const headers = {
      authorization: `Bearer service_sk_test_${language}`,
      "content-type": "application/json",
    };
    await exchange(service, PATH, { method: "POST", headers, body: text });
    return service.emails().find((mail) => mail.language === language);
  };
}
