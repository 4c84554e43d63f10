// The request's type, as the libraries infer it from the schema.
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

const hoisted = pledgeResolver({ messages: de, maxIssues: 5 });
const optional = pledgeResolver({ optional: true, timeZone: "Europe/Berlin" });
const nested = pledgeResolver({ optional: true, name: "pledge" });
// @ts-expect-error there is no such option
pledgeResolver({ optinal: true });

interface Checkout extends Request {
  coupon: string;
  address: { zip: string };
}

export function ownResolver(defaultValues: Checkout) {
  const { handleSubmit, register, formState } = useForm<Checkout>({
    resolver: hoisted,
    defaultValues,
  });
  register("address.zip");
  // @ts-expect-error neither the request nor the shop has such a member
  register("recipient.phone");
  const type: string | undefined = formState.errors.recipient?.email?.type;
  return handleSubmit(
    (order) => same<typeof order, Checkout>(),
    () => type,
  );
}

export function inferred(defaultValues: Request) {
  const form = useForm({ resolver: pledgeResolver(), defaultValues });
  form.handleSubmit((order) => same<typeof order, Request>());
  return form.register("pledges.0.impact.amount");
}

/**
 * A form whose inputs have other types than the resulting order. For example, the form's amounts are texts.
 */
export function checkout() {
  const { handleSubmit, register } = useForm({
    resolver: optional,
    defaultValues: {
      newsletter: false,
      reference: "order-1",
      recipient: { email: "", firstName: "" },
      pledges: [{ impact: { amount: "", offeringId: "tree" } }],
    },
  });
  register("newsletter");
  // @ts-expect-error there is no such member
  register("coupon");
  return handleSubmit((order) => {
    same<typeof order.newsletter, boolean>();
    if (order.pledges) {
      const { newsletter: _, ...request } = order;
      const payload: Request = request;
      return payload;
    }
    // @ts-expect-error there may be none
    order.pledges[0];
    return order.recipient.email;
  });
}

/** A server reads posted values without a form. */
export async function checkedOrder(order: Checkout) {
  const { values, errors } = await hoisted(order, undefined, { fields: {} });
  same<typeof values.coupon, string>();
  const { coupon: _, address: _own, ...payload } = values;
  if (Object.keys(errors).length === 0) return payload.recipient.email;
  // @ts-expect-error the fields are missing
  return hoisted(order, undefined, {});
}

export function nestedCheckout() {
  const { handleSubmit } = useForm({
    resolver: nested,
    defaultValues: { coupon: "", pledge: { recipient: { email: "" } } },
  });
  handleSubmit(({ coupon, pledge }) => {
    same<typeof coupon, string>();
    same<typeof pledge, Request | null>();
  });
  useForm({
    resolver: pledgeResolver({ name: "cart.pledge" }),
    defaultValues: { cart: { coupon: "", pledge: {} } },
  }).handleSubmit(({ cart }) => {
    same<typeof cart.coupon, string>();
    same<typeof cart.pledge, Request>();
  });
  // @ts-expect-error the pledge may be null
  useForm<{ pledge: Request }>({ resolver: nested });
  return useForm<{ coupon: string; pledge: Request | null }>({ resolver: nested });
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
