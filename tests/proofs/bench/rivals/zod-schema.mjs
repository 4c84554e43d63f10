import * as z from "zod";

export const requestSchema = z.strictObject({
  reference: z.string(),
  recipient: z.strictObject({
    email: z.email(),
    firstName: z.string().optional(),
    name: z.string().optional(),
  }),
  pledges: z
    .array(
      z.strictObject({
        impact: z.strictObject({ amount: z.number().positive(), offeringId: z.string() }),
        detail: z
          .strictObject({
            name: z.string().optional(),
            description: z.string().optional(),
            nounSingular: z.string().optional(),
            nounPlural: z.string().optional(),
            image: z.url().optional(),
            externalId: z.string().optional(),
            externalUrl: z.url().optional(),
          })
          .optional(),
      }),
    )
    .min(1),
  trigger: z
    .strictObject({
      date: z.iso.datetime({ offset: true }).optional(),
      phrase: z.string().optional(),
      externalUrl: z.url().optional(),
    })
    .optional(),
  notifications: z
    .array(z.enum(["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"]))
    .max(3)
    .optional(),
});
