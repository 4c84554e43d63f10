import en from "zod/v4/locales/en.js";
import * as z from "zod/mini";
import { zodPointer } from "./pointer.mjs";

z.config(en()); // messages, as the others have them: mini comes without

const text = z.optional(z.string());
const url = z.optional(z.url());

const requestSchema = z.strictObject({
  reference: z.string(),
  recipient: z.strictObject({ email: z.email(), firstName: text, name: text }),
  pledges: z
    .array(
      z.strictObject({
        impact: z.strictObject({ amount: z.number().check(z.positive()), offeringId: z.string() }),
        detail: z.optional(
          z.strictObject({
            name: text,
            description: text,
            nounSingular: text,
            nounPlural: text,
            image: url,
            externalId: text,
            externalUrl: url,
          }),
        ),
      }),
    )
    .check(z.minLength(1)),
  trigger: z.optional(
    z.strictObject({
      date: z.optional(z.iso.datetime({ offset: true })),
      phrase: text,
      externalUrl: url,
    }),
  ),
  notifications: z.optional(
    z
      .array(z.enum(["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"]))
      .check(z.maxLength(3)),
  ),
});

export const check = (value) => z.safeParse(requestSchema, value).error?.issues ?? [];
export const pointer = zodPointer;
export const touch = (problem) => problem.path.length + problem.message.length;
