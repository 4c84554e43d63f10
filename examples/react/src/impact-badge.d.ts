import type { ImpactBadgeAttributes } from "impact-pledge/badge";
import type { DetailedHTMLProps, HTMLAttributes } from "react";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "impact-badge": DetailedHTMLProps<HTMLAttributes<HTMLElement>, HTMLElement> &
        ImpactBadgeAttributes;
    }
  }
}
