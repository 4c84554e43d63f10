// The request's type, as the libraries infer it of the schema.
import { sValidator } from "@hono/standard-validator";
import { standardSchemaResolver } from "@hookform/resolvers/standard-schema";
import { useForm as useTanStackForm } from "@tanstack/react-form";
import { initTRPC, type inferRouterInputs } from "@trpc/server";
import { Hono } from "hono";
import { de } from "impact-pledge/locales/de";
import { pledgeResolver } from "impact-pledge/react-hook-form";
import {
  createPledgeTransactionSchema,
  type CreatePledgeTransactionRequest as Request,
} from "impact-pledge/validate";
import { useForm } from "react-hook-form";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._equal: Equal<A, B> extends true ? [] : [never]) => {};

new Hono().post("/orders", sValidator("json", createPledgeTransactionSchema), (c) => {
  const order = c.req.valid("json");
  same<typeof order, Request>();
  return c.text(order.recipient.email);
});

const { procedure, router } = initTRPC.create();
const orders = router({
  place: procedure.input(createPledgeTransactionSchema).mutation(({ input }) => {
    same<typeof input, Request>();
    return input;
  }),
});
same<inferRouterInputs<typeof orders>["place"], Request>();

export function ownResolver(defaultValues: Request) {
  const { handleSubmit, register, formState } = useForm<Request>({
    resolver: pledgeResolver({ messages: de, maxIssues: 5 }),
    defaultValues,
  });
  register("recipient.firstName", { setValueAs: (text: string) => text || undefined });
  // @ts-expect-error the request has no such member
  register("recipient.phone");
  const type: string | undefined = formState.errors.recipient?.email?.type;
  return handleSubmit(
    (order) => same<typeof order, Request>(),
    () => type,
  );
}

export function inferred(defaultValues: Request) {
  return useForm({ resolver: pledgeResolver(), defaultValues }).register("pledges.0.impact.amount");
}

export function forms(defaultValues: Request) {
  const { handleSubmit, register } = useForm({
    resolver: standardSchemaResolver(createPledgeTransactionSchema),
    defaultValues,
  });
  register("pledges.0.impact.amount");
  // @ts-expect-error: no such member
  register("recipient.emial");
  handleSubmit((order) => same<typeof order, Request>());

  const form = useTanStackForm({
    defaultValues,
    validators: { onChange: createPledgeTransactionSchema },
    onSubmit: ({ value }) => same<typeof value, Request>(),
  });
  form.setFieldValue("recipient.email", "ada@example.org");
  // @ts-expect-error: no such member
  form.setFieldValue("recipient.emial", "ada@example.org");
}
