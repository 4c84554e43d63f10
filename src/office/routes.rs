//! The macro of the table of routes.

/// Generates [`Route`] from a table with one line per route. A line has these parts, in this order:
///
/// - the route's name, with `(id)` if its path contains an ID;
/// - the method and the path;
/// - the permission that operators need;
/// - the scope: the function of [`guard`](crate::office::shared::page::guard) that checks a person's access;
/// - the right that people of shops need;
/// - the handler with its arguments;
/// - for the form of an operation: the operation that runs before the handler, with the arguments that the route fixes.
///
/// A handler gets the [`PageContext`] and the listed arguments: `scoped` is the result of the scope's
/// function, `form` is the posted form, `query` is the query string, and `by` is the person's name.
macro_rules! routes {
    (
        ($scoped:ident, $form:ident, $query:ident, $by:ident);
        $(
            $(#[doc = $doc:literal])?
            $route:ident $(($id:ident))? = $template:literal, $act:ident, $scope:ident $right:ident,
            $module:ident::$function:ident($($argument:expr),*)
            $(after $group:ident::$spec:ident, $work:ident($($name:literal = $given:expr),*))?;
        )*
    ) => {
        /// A page or form of the dashboard. An ID from its path is percent-decoded, but not validated yet.
        #[derive(Clone, Debug, PartialEq, Eq, EnumIter)]
        pub enum Route {
            $($(#[doc = $doc])? $route $((routes!(@id $id)))?,)*
        }

        impl Route {
            /// Returns the permission that an operator needs for this route.
            pub fn permission(&self) -> Permission {
                match self { $(Route::$route { .. } => Permission::$act,)* }
            }

            /// Returns the right that a person of a shop needs for this route.
            pub fn right(&self) -> MemberRight {
                match self { $(Route::$route { .. } => MemberRight::$right,)* }
            }

            /// Returns the operation that this form runs; `None` for pages, and for forms with code of their own.
            pub fn operation(&self) -> Option<&'static Spec> {
                match self { $(Route::$route { .. } => routes!(@operation $($group::$spec)?),)* }
            }

            /// Returns the name of the function in `guard` that checks access to this route, such as `unit`.
            pub fn scope(&self) -> &'static str {
                match self { $(Route::$route { .. } => stringify!($scope),)* }
            }

            /// Returns the method and the path, with `{id}` instead of the ID, for the log.
            pub fn template(&self) -> &'static str {
                match self { $(Route::$route { .. } => $template,)* }
            }
        }

        /// Returns the route of a method (`GET` or `POST`) and a path; `None` if there is no such route.
        pub fn route(method: &str, path: &str) -> Option<Route> {
            let segments: Vec<_> = path.strip_prefix('/')?.split('/').map(percent_decode).collect();
            let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
            $(
                if let Some(_id) = matched($template, method, &segments) {
                    return Some(Route::$route $((routes!(@owned $id, _id)))?);
                }
            )*
            None
        }

        impl<S: OperatorStore, C: Clock, E: Entropy> PageContext<'_, S, C, E> {
            /// Checks the person's access to the unit, team or record, then renders the route's page.
            pub(crate) async fn show(&self, route: &Route, $form: &Form, $query: &Form) -> Result {
                let $by = self.author.by();
                match route {
                    $(Route::$route $(($id))? => {
                        let right = MemberRight::$right;
                        let id = routes!(@text $($id)?);
                        let $scoped = self.$scope(Target { right, id, form: $form }).await?;
                        let _decided = &$scoped;
                        $(
                            let given: &[(&str, &str)] = &[$(($name, $given)),*];
                            let run = async |call: &Call<'_, _>, values| $group::$work(call, values).await;
                            let asked = change::make(self, &$group::$spec, $form, given, run).await?;
                            if let Some(page) = asked {
                                return Ok(page);
                            }
                        )?
                        Ok(self.with_outcome($module::$function(self, $($argument),*).await?))
                    })*
                }
            }
        }
    };
    (@id $id:ident) => { String };
    (@text $id:ident) => { $id.as_str() };
    (@text) => { "" };
    (@operation $group:ident :: $spec:ident) => { Some(&$group::$spec) };
    (@operation) => { None };
    (@owned $id:ident, $found:ident) => { $found.to_owned() };
}

pub(crate) use routes;
