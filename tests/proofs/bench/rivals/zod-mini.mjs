import * as z from "zod/mini";

const text = z.optional(z.string());
const schema = z.strictObject({
  reference: z.string(),
  recipient: z.strictObject({ email: z.email(), firstName: text, name: text }),
  pledges: z
    .array(
      z.strictObject({
        impact: z.strictObject({
          amount: z.number().check(z.positive()),
          offeringId: z.string(),
        }),
        detail: z.optional(
          z.strictObject({
            name: text,
            description: text,
            nounSingular: text,
            nounPlural: text,
            image: z.optional(z.url()),
            externalId: text,
            externalUrl: z.optional(z.url()),
          }),
        ),
      }),
    )
    .check(z.minLength(1)),
  trigger: z.optional(
    z.strictObject({
      date: z.optional(z.iso.datetime({ offset: true })),
      phrase: text,
      externalUrl: z.optional(z.url()),
    }),
  ),
  notifications: z.optional(
    z
      .array(z.enum(["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"]))
      .check(z.maxLength(3)),
  ),
});

export const check = (value) => schema.safeParse(value).error?.issues ?? [];
