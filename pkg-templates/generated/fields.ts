// generated from src/pledges/schema.rs: `UPDATE=1 cargo test --test native generated` writes it anew.

import type { Shape } from "../form/shape.ts";

/** The shape of a request as a form fills it in: objects have `members`, arrays an `item`; any other value is a field. */
export const REQUEST: Shape = { members: {
  reference: { isRequired: true },
  recipient: { isRequired: true, members: { email: { isRequired: true, format: "email" }, firstName: {}, name: {} } },
  pledges: { isRequired: true, least: 1, item: { members: {
    impact: { isRequired: true, members: { amount: { isRequired: true, isNumber: true }, offeringId: { isRequired: true } } },
    detail: { members: {
      name: {}, description: {}, nounSingular: {}, nounPlural: {}, image: { format: "uri" }, externalId: {},
      externalUrl: { format: "uri" },
    } },
  } } },
  trigger: { members: { date: { format: "date-time" }, phrase: {}, externalUrl: { format: "uri" } } },
  notifications: { most: 3, item: { choices: ["Email","MessagingServiceA","MessagingServiceB","MessagingServiceC"] } },
} };
/** The names of the text formats, by number. */
export const FORMATS: string[] = ["","email","uri","date-time"];
