/** Records what happens in this tab's checkout. The page for developers shows it. */
const PLACE = "what-happened";
const MOST = 60;

const began = { typed: [], payload: null, exchange: null };

export function readTrace() {
  try {
    return { ...began, ...JSON.parse(sessionStorage.getItem(PLACE) ?? "{}") };
  } catch {
    return began; // the data is not valid, or storage is not allowed
  }
}

function write(trace) {
  try {
    sessionStorage.setItem(PLACE, JSON.stringify(trace));
  } catch {
    // storage is full or not allowed: the shop works without it
  }
}

export const startTrace = () => write(began);

/**
 * Records that the issues changed while the shopper typed.
 * @param {{at: number, field: string, issues: string[], ms: number}} step a change of the issues
 */
export function traceTyped(step) {
  const trace = readTrace();
  write({ ...trace, typed: [...trace.typed, step].slice(-MOST) });
}

/** @param {{payload?: object, exchange?: object}} part */
export const tracePart = (part) => write({ ...readTrace(), ...part });
