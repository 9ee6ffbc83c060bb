#pragma once

#include <QStringList>

namespace sonde::window {

/// Which models the windows of this process have open, kept in the settings while it lives ("session/PID"). A process
/// that ends by itself, or because it was asked to, leaves nothing there; what one that was killed had open can be
/// opened again.
class Session {
  public:
    /// Writes what is open now, in the order of the windows. Called whenever a model is opened or closed.
    static void note(const QStringList& locations);
    /// What the last process had open that is gone without having said so. It stays known until it is forgotten,
    /// whatever becomes of this process; what such processes before the last one had open is forgotten now.
    static QStringList lost();
    static void forgetLost();
};

}  // namespace sonde::window
