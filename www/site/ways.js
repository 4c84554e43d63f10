/**
 * The navigation of the site: two numbered ways through the documents, and the reference. Each page of the site is
 * named here once.
 */

/**
 * A page of a way. `page`: its address in the site; `label`: its name in lists; `does`: what it brings the reader.
 * @typedef {{page: string, label: string, does: string}} Step
 * A way. `instead`: a page that replaces the steps for some readers; `reference`: the title of its group.
 * @typedef {{id: string, title: string, lead: string, instead?: Step, steps: Step[], reference: string}} Way
 * @typedef {{title: string, pages: {page: string, label: string}[]}} Group
 */

const step = (page, label, does) => ({ page, label, does });

/** @type {Way[]} */
export const WAYS = [
  {
    id: "shop",
    title: "I have a shop",
    reference: "for shops",
    lead: "Record pledges from your checkout. The service that you call is run by an operator, who gives you an API key.",
    instead: step(
      "shop-systems",
      "Connect a shop system",
      "WooCommerce, Shopify, BigCommerce or Stripe Checkout. You write no code.",
    ),
    steps: [
      step(
        "getting-started",
        "Record a pledge",
        "Send a pledge from your server, show the timeline, handle each error.",
      ),
      step("forms", "Forms in the page", "Check the checkout form by the service's own rules."),
      step("forms-server", "Forms on the server", "Read the posted form by the same rules."),
      step("testing", "Test your shop", "Run the real service in your tests, with failures."),
    ],
  },
  {
    id: "service",
    title: "I run the service",
    reference: "for operators",
    lead: "Host the API, the buyers' pages and the dashboard in your Cloudflare account, and give shops their keys.",
    steps: [
      step("service", "On your machine", "Start the service with one command."),
      step("deploying", "Deploy and upgrade", "Deploy to Cloudflare, use your domain, roll back."),
      step("dashboard", "The dashboard", "Let your staff and the people of shops sign in."),
      step("keys-and-prices", "Shops, keys and prices", "Add a shop, give it keys, set prices."),
      step("logs-and-alarms", "Logs and alarms", "Find a request's log line, and get alarms."),
      step("emails", "E-mails", "Tell recipients what was pledged for them."),
      step("messaging", "Messengers", "Do the same by Slack or another messenger."),
      step("ledger", "The ledger", "Keep the database of all transactions complete."),
      step("payments", "Payments", "Sum a month, send statements, mark it as paid."),
      step("fulfilment", "Fulfilment and updates", "Record what was done, and show it to buyers."),
      step("data", "Data", "Find, erase, back up and restore."),
      step("recover", "Recover", "After a lost database, a failed deploy or a rollback."),
    ],
  },
];

const entry = (page, label) => ({ page, label });

/** @type {Group[]} */
export const REFERENCE = [
  {
    title: "for shops",
    pages: [
      entry("api", "HTTP API"),
      entry("npm", "The npm package"),
      entry("react-hook-form", "React Hook Form"),
      entry("other-languages", "Other languages"),
      entry("errors/", "Errors and notices"),
    ],
  },
  {
    title: "for operators",
    pages: [
      entry("commands/", "Commands"),
      entry("settings", "Settings"),
      entry("limits-and-costs", "Limits and costs"),
      entry("assistants", "Assistants"),
    ],
  },
  {
    title: "for both",
    pages: [
      entry("contract", "The contract"),
      entry("stability", "What is stable"),
      entry("reliability", "Reliability"),
      entry("security", "Security"),
      entry("performance", "Performance"),
      entry("glossary", "Glossary"),
      entry("decisions/", "Decisions"),
    ],
  },
];

/** Returns a way's pages in their order, the one without a number first. @param {Way} way */
export const pagesOf = ({ instead, steps }) => (instead ? [instead, ...steps] : steps);

/** Returns the addresses of all pages that the navigation names. */
export const named = () => [
  ...WAYS.flatMap(pagesOf).map(({ page }) => page),
  ...REFERENCE.flatMap(({ pages }) => pages).map(({ page }) => page),
];
