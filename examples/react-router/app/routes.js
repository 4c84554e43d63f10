import { route } from "@react-router/dev/routes";

export default [route("/", "routes/checkout.jsx")];
