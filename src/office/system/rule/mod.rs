pub mod attention;
pub mod backups;
pub mod epoch;
pub mod increment;
pub mod kept;
pub mod own_rows;
pub mod restore;
pub mod secret;
