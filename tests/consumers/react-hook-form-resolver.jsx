import { de } from "impact-pledge/locales/de";
import { pledgeResolver } from "impact-pledge/react-hook-form";
import { createRoot } from "react-dom/client";
import { useForm } from "react-hook-form";

const defaultValues = {
  coupon: "",
  address: { zip: "" },
  quantity: 2,
  pledge: {
    reference: "order-1",
    recipient: { email: "", firstName: "" },
    pledges: [{ impact: { amount: "", offeringId: "tree" } }],
    trigger: { date: "" },
    notifications: [],
  },
};
const options = {
  resolver: pledgeResolver({
    name: "pledge",
    optional: true,
    messages: de,
    timeZone: "Europe/Berlin",
  }),
  defaultValues,
  criteriaMode: "all",
  shouldUseNativeValidation: location.search === "?native",
};

/** Turns the amount into a number in the form itself, in a text field. */
const NUMBERS = {
  "?valueAsNumber": { valueAsNumber: true },
  "?setValueAs": { setValueAs: (text) => (text === "" ? Number.NaN : Number(text)) },
};
const asNumber = NUMBERS[location.search];

function Order() {
  const { register, handleSubmit, formState } = useForm(options);
  const { errors } = formState;
  window.errors = () =>
    JSON.parse(JSON.stringify(errors, (key, value) => (key === "ref" ? value.id : value)));
  return (
    <form
      onSubmit={handleSubmit((order) => {
        window.sent = order;
      })}
      noValidate
    >
      <input id="coupon" {...register("coupon")} />
      <input id="zip" {...register("address.zip")} />
      <input id="quantity" type="number" {...register("quantity", { valueAsNumber: true })} />
      <input id="reference" {...register("pledge.reference")} />
      <input id="email" {...register("pledge.recipient.email")} />
      <input id="name" {...register("pledge.recipient.firstName")} />
      <input
        id="amount"
        type={asNumber ? "text" : "number"}
        step="any"
        {...register("pledge.pledges.0.impact.amount", asNumber)}
      />
      <input id="date" type="datetime-local" {...register("pledge.trigger.date")} />
      {["Email", "MessagingServiceA", "MessagingServiceB", "Pigeon"].map((service) => (
        <input
          key={service}
          id={service}
          type="checkbox"
          value={service}
          {...register("pledge.notifications")}
        />
      ))}
      <button type="submit" id="send">
        Send
      </button>
    </form>
  );
}

createRoot(document.querySelector("#root")).render(<Order />);
