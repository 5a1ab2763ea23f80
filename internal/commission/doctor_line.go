package commission

// EchoFix is what to do about an adapter that receives what it sends.
const EchoFix = "use an adapter that switches direction by itself, or one with its receiver off while it sends"
