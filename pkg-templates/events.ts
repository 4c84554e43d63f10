/* What the hooks and the logger of a client learn: copies without the API key. Neither can change or break a call. */
import type { LogLevel, Logger, RequestEvent, ResponseEvent, RetryEvent } from "./types.ts";

/** From silence to everything. */
export const LEVELS = ["off", "error", "warn", "info", "debug"] as const;

type Level = Exclude<LogLevel, "off">;

interface Events {
  readonly request: RequestEvent;
  readonly response: ResponseEvent;
  readonly retry: RetryEvent;
  /** Of an error, as a log may show it. */
  readonly failure: Record<string, unknown>;
}

/** Of each event its hook, its level, and its line in the log. */
const EVENTS: {
  readonly [Name in keyof Events]: readonly [
    hook: "onRequest" | "onResponse" | "onRetry" | "",
    level: Level,
    line: (info: Events[Name]) => string,
  ];
} = {
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

interface Hooks {
  readonly logger?: Logger | undefined;
  readonly logLevel: LogLevel;
  readonly onRequest?: unknown;
  readonly onResponse?: unknown;
  readonly onRetry?: unknown;
}

/** Tells the hooks and the logger of an event, which is described only for those that listen. */
export type Report = <Name extends keyof Events>(event: Name, describe: () => Events[Name]) => void;

/** @param options of the client */
export function reporter({ logger = globalThis.console, logLevel, ...hooks }: Hooks): Report {
  const level = LEVELS.indexOf(logLevel);
  const log = (at: Level, line: string, info: unknown) =>
    level >= LEVELS.indexOf(at) && runSafely(() => logger[at](`impact-pledge: ${line}`, info));
  return (event, describe) => {
    const [name, at, line] = EVENTS[event],
      hook = (hooks as Record<string, ((info: unknown) => unknown) | undefined>)[name];
    if (!hook && level < LEVELS.indexOf(at)) return;
    const info = Object.freeze(describe());
    log(at, line(info as never), info);
    if (hook)
      runSafely(
        () => hook(info),
        (error) => log("error", `\`${name}\` failed`, error),
      );
  };
}

/** Runs what may throw, at once or later: the call goes on. */
async function runSafely(work: () => unknown, failed?: (error: unknown) => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    failed?.(error);
  }
}
