//! The commands that are tried.

use strum::EnumIter;

/// A command of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter)]
pub enum Command {
    Create,
    Rotate,
    RotateNow,
    Revoke,
    SetPrices,
    AddUnits,
    SetProfile,
    ReplaceProfile,
    UnsetProfile,
    RemoveUnit,
    AddMember,
    RemoveMember,
    Mark,
    Undo,
    Erase,
    ErasePerson,
    Resend,
    KeepFrom,
    Rebuild,
    RemovePrices,
    AddPerson,
    RemovePerson,
    SwitchNotice,
    AddCredit,
    AddFulfilment,
    RemoveFulfilment,
    AddUpdate,
    EditUpdate,
    PublishUpdate,
    WithdrawUpdate,
    AddConnection,
    SetConnection,
    EndConnection,
    RetryDelivery,
    FetchOrders,
}
