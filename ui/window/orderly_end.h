#pragma once

namespace sonde::window {

/// From now on SIGTERM, SIGHUP and SIGINT close the windows as a user would, so that what belongs to the session is
/// written. Once, with an application.
void endOrderlyOnSignals();

}  // namespace sonde::window
