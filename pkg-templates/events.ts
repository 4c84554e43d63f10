/* Passes events without the API key to the hooks and the logger of a client. Hooks and loggers cannot change or break a call. */
import { type Redact, redactedCause } from "./redact.ts";
import type {
  LogLevel,
  Logger,
  RequestErrorEvent,
  RequestEvent,
  ResponseEvent,
  RetryEvent,
} from "./types.ts";

/** The log levels, in ascending order. */
export const LEVELS = ["off", "error", "warn", "info", "debug"] as const;

type Level = Exclude<LogLevel, "off">;

interface Events {
  readonly request: RequestEvent;
  readonly response: ResponseEvent;
  readonly error: RequestErrorEvent;
  readonly retry: RetryEvent;
  /** The details of the call's error that are safe to log. */
  readonly failure: Record<string, unknown>;
}

/** The hook, the log level and the log line of each event. */
const EVENTS: {
  readonly [Name in keyof Events]: readonly [
    hook: "onRequest" | "onResponse" | "onError" | "onRetry" | "",
    level: Level,
    line: (info: Events[Name]) => string,
  ];
} = {
  request: [
    "onRequest",
    "debug",
    ({ method, url, attempt }) => `${method} ${url}, attempt ${attempt}`,
  ],
  response: ["onResponse", "debug", (info) => ended(info, info.status)],
  error: ["onError", "debug", (info) => ended(info, info.reason)],
  retry: ["onRetry", "warn", ({ reason, waitMs }) => `retry in ${waitMs} ms: ${reason}`],
  failure: ["", "error", ({ name, message }) => `${name}: ${message}`],
};

const ended = (
  { method, url, durationMs }: ResponseEvent | RequestErrorEvent,
  how: number | string,
): string => `${method} ${url}: ${how} after ${durationMs} ms`;

interface Hooks {
  readonly logger?: Logger | undefined;
  readonly logLevel: LogLevel;
  readonly onRequest?: unknown;
  readonly onResponse?: unknown;
  readonly onError?: unknown;
  readonly onRetry?: unknown;
}

/** Reports an event to its hook and the logger. Calls `describe` only if there is a hook, or the logger logs the event. */
export type Report = <Name extends keyof Events>(event: Name, describe: () => Events[Name]) => void;

/**
 * Returns a random text of about 11 letters and digits. It need not be secret, so it works without `crypto`,
 * which some platforms lack.
 */
export const newCallId = (): string => Math.random().toString(36).slice(2);

/** Control characters and line separators. They are escaped in logs, so that a text from the service cannot forge log lines. */
const CONTROLS = /[\p{Cc}\u2028\u2029]/gu;
const escaped = (text: string) =>
  text.replace(CONTROLS, (character) =>
    character === "\n" ? "\\n" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Returns the function that reports events. */
export function reporter(
  { logger = globalThis.console, logLevel, ...hooks }: Hooks,
  redact: Redact,
): Report {
  const level = LEVELS.indexOf(logLevel);
  const log = (at: Level, line: string, info: unknown) =>
    level >= LEVELS.indexOf(at) &&
    runSafely(() => logger[at](`impact-pledge: ${escaped(redact(line))}`, info));
  return (event, describe) => {
    const [name, at, line] = EVENTS[event],
      hook = (hooks as Record<string, ((info: unknown) => unknown) | undefined>)[name];
    if (!hook && level < LEVELS.indexOf(at)) return;
    const info = Object.freeze(describe());
    log(at, line(info as never), info);
    if (hook)
      runSafely(
        () => hook(info),
        (error) => log("error", `\`${name}\` failed`, redactedCause(error, redact)),
      );
  };
}

/** Runs a function. If the function throws or rejects, passes the error to `failed` and does not throw. */
async function runSafely(work: () => unknown, failed?: (error: unknown) => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    failed?.(error);
  }
}
