import { DurableObject } from "cloudflare:workers";
import { post } from "./slack.js";

/** How long a delivery is remembered. A queue of the service keeps a message for at most 14 days. */
const KEPT_MS = 15 * 24 * 60 * 60 * 1_000;

/**
 * The delivery of one message. All attempts of a message have the same `webhook-id`, so they reach the same object. It
 * posts the message once, even if two attempts arrive at the same time.
 */
export class Delivery extends DurableObject {
  #posting;

  /**
   * Posts a message, unless an earlier attempt did.
   * @param {import("./slack.js").Message} message
   * @returns {Promise<import("./slack.js").Outcome>}
   */
  async deliver(message) {
    if (await this.ctx.storage.get("posted")) return { status: 200, reason: "posted before" };
    this.#posting ??= this.#post(message).finally(() => {
      this.#posting = undefined;
    });
    return this.#posting;
  }

  async #post(message) {
    const outcome = await post(message, this.env);
    if (outcome.status === 200) {
      await this.ctx.storage.put("posted", true);
      await this.ctx.storage.setAlarm(Date.now() + KEPT_MS);
    }
    return outcome;
  }

  async alarm() {
    await this.ctx.storage.deleteAll();
  }
}
