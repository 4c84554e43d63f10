/** The product page, with a badge for the pledge that can be added at the checkout. */
import "impact-pledge/badge";
