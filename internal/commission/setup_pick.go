package commission

// ItIsNew is typed where the one servo on the line is not the one that is known by its id.
const ItIsNew = "new"
