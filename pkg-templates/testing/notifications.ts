/* The queue of notifications, its consumer, and the e-mails and messages that the consumer has sent. */
import { coder } from "../platform.ts";
import type { Clock } from "./clock.ts";
import { Answer, type Isolate, type Post, type Sending } from "./isolate.ts";
import type { Store } from "./store.ts";
import type { RecordedEmail, RecordedMessage } from "./types.ts";

const MOST = 1_000;
const MAIL_FROM = "pledges@pledge.test",
  MAIL_TEST_TO = "tests@pledge.test";

/** A message of the queue, in the form of `src/pledges/service/outbox.rs`. It names the transaction by its ID. */
interface Queued {
  readonly id: string;
}

/** A queue that keeps its messages until {@link Notifications.deliver}. */
export interface Queue {
  readonly messages: Queued[];
  readonly send: (message: Queued) => Promise<void>;
}

/** An e-mail, in the form that Cloudflare's binding takes. */
type BindingEmail = Omit<RecordedEmail, "transactionId" | "sentAt" | "language">;

/** Bindings that let the service and its consumer see a mail service, and an adapter for each messaging service. */
type Outlets = Record<string, object | string>;

/** Returns the bindings. `mailed` gets each e-mail, and `posted` the body of each message. */
function outlets(mailed: (mail: BindingEmail) => void, posted: (body: Uint8Array) => void) {
  const EMAIL = {
    async send(mail: BindingEmail) {
      mailed(mail);
      return { messageId: "1" };
    },
  };
  const adapter = {
    async fetch({ body }: Post) {
      posted(body!);
      return new Answer(undefined, { status: 204 });
    },
  };
  const names = ["A", "B", "C"].flatMap((letter) => [letter, `${letter}_TEST`]);
  const adapters = names.map((name) => [`MESSAGING_SERVICE_${name}`, adapter]);
  return { EMAIL, MAIL_FROM, MAIL_TEST_TO, ...Object.fromEntries(adapters) } as Outlets;
}

/** The bindings of the service, which sends nothing itself. */
export const OUTLETS = outlets(
  () => {},
  () => {},
);

export const newQueue = (): Queue => {
  const messages: Queued[] = [];
  return { messages, send: async (message) => void messages.push(message) };
};

export type Notifications = ReturnType<typeof newNotifications>;

export function newNotifications(newIsolate: () => Isolate, store: Store, clock: Clock) {
  const emails = newList<RecordedEmail>(),
    messages = newList<RecordedMessage>();
  let consumer: Isolate | undefined,
    last: Promise<void> = Promise.resolve(),
    count = 0;

  /** Delivers a message of the queue for the `attempt`th time. Records the notification if it is sent. */
  async function attempt(message: Queued, origin: string, attempts: number): Promise<void> {
    const sentAt = new Date(clock.now()).toISOString();
    let mail: BindingEmail | undefined, language: string;
    count += 1;
    const sending: Sending = {
      token: `delivery-${count}`,
      begin(_sent, _records, _name, marker) {
        ({ language } = parsed(marker) as { language: string });
      },
    };
    const again = ({ delaySeconds }: { readonly delaySeconds: number }) =>
      void clock.setTimeout(
        () => void deliver([message], origin, attempts + 1),
        delaySeconds * 1_000,
        { isBackground: true },
      );
    const env = {
      ...outlets(
        (given) => {
          mail = given;
        },
        (body) => messages.add({ sentAt, ...(parsed(body) as Omit<RecordedMessage, "sentAt">) }),
      ),
      PLEDGES: store.bind(undefined),
      PUBLIC_ORIGIN: origin,
    };
    consumer ??= newIsolate();
    await consumer.deliver({ body: message, attempts, ack() {}, retry: again }, env, sending);
    if (mail) emails.add({ transactionId: message.id, sentAt, language: language!, ...mail });
  }

  /**
   * Delivers messages one after the other, because deliveries of the same transaction would wait for each other by a
   * clock that may stand still.
   * @param origin of the links in e-mails and messages
   */
  function deliver(queued: readonly Queued[], origin: string, attempts = 1): Promise<void> {
    const own = queued.reduce(
      (before, message) => before.then(() => attempt(message, origin, attempts)),
      last,
    );
    last = own.catch(() => {}); // the caller's call fails, and not the next ones
    return own;
  }

  return { deliver, emails: emails.copies, messages: messages.copies };
}

const parsed = (bytes: Uint8Array): unknown => JSON.parse(coder("TextDecoder").decode(bytes));

/** Creates a list of the last values. It keeps them as text, so that no caller can change them. */
function newList<T>() {
  const texts: string[] = [];
  return {
    add(value: T): void {
      texts.push(JSON.stringify(value));
      if (texts.length > MOST) texts.shift();
    },
    copies: (): T[] => texts.map((text) => JSON.parse(text)),
  };
}
