/**
 * What the thank-you page says about each notification. The page's script and the server use the same words.
 */
const WAYS = {
  Email: "by e-mail",
  MessagingServiceA: "in messenger A",
  MessagingServiceB: "in messenger B",
};

/** The notifications that the shop offers. */
export const OFFERED = Object.keys(WAYS);

/** Returns how a shopper gets the link, in words: `by e-mail and in messenger A`. @param {string[]} notifications */
export const waysOf = (notifications) =>
  new Intl.ListFormat("en").format(notifications.map((type) => WAYS[type]));
