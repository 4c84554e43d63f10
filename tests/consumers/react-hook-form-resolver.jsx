import { de } from "impact-pledge/locales/de";
import { pledgeResolver } from "impact-pledge/react-hook-form";
import { createRoot } from "react-dom/client";
import { useForm } from "react-hook-form";

const defaultValues = {
  reference: "order-1",
  recipient: { email: "" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
};
const options = {
  resolver: pledgeResolver({ messages: de }),
  defaultValues,
  criteriaMode: "all",
  shouldUseNativeValidation: location.search === "?native",
};

function Order() {
  const { register, handleSubmit, formState } = useForm(options);
  const { errors } = formState;
  window.errors = () =>
    JSON.parse(JSON.stringify(errors, (key, value) => (key === "ref" ? undefined : value)));
  return (
    <form
      onSubmit={handleSubmit((order) => {
        window.sent = order;
      })}
      noValidate
    >
      <input
        id="reference"
        {...register("reference", { setValueAs: (text) => text || undefined })}
      />
      <input id="email" {...register("recipient.email")} />
      <input
        id="name"
        {...register("recipient.firstName", { setValueAs: (text) => text || undefined })}
      />
      <input
        id="amount"
        type="number"
        step="any"
        {...register("pledges.0.impact.amount", { valueAsNumber: true })}
      />
      <button type="submit" id="send">
        Send
      </button>
    </form>
  );
}

createRoot(document.querySelector("#root")).render(<Order />);
