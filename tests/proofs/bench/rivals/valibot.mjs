import * as v from "valibot";

const text = v.optional(v.string());
const url = v.optional(v.pipe(v.string(), v.url()));

const requestSchema = v.strictObject({
  reference: v.string(),
  recipient: v.strictObject({
    email: v.pipe(v.string(), v.rfcEmail()),
    firstName: text,
    name: text,
  }),
  pledges: v.pipe(
    v.array(
      v.strictObject({
        impact: v.strictObject({
          amount: v.pipe(v.number(), v.finite(), v.gtValue(0)),
          offeringId: v.string(),
        }),
        detail: v.optional(
          v.strictObject({
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
    ),
    v.minLength(1),
  ),
  trigger: v.optional(
    v.strictObject({
      date: v.optional(v.pipe(v.string(), v.isoTimestamp())),
      phrase: text,
      externalUrl: url,
    }),
  ),
  notifications: v.optional(
    v.pipe(
      v.array(v.picklist(["Email", "MessagingServiceA", "MessagingServiceB", "MessagingServiceC"])),
      v.maxLength(3),
    ),
  ),
});

export const check = (value) => v.safeParse(requestSchema, value).issues ?? [];
export const touch = (problem) => (problem.path?.length ?? 0) + problem.message.length;
