#pragma once

#include <QStringList>

namespace sonde::window {

/// Which models the windows of this process have open, kept in the settings while it lives ("session/PID"). A process that
/// ends by itself leaves nothing there; what one that was killed had open can be opened again.
class Session {
  public:
    /// Writes what is open now, in the order of the windows. Called whenever a model is opened or closed.
    static void note(const QStringList& locations);
    /// What processes had open that are gone without having said so; forgotten by asking.
    static QStringList takeLost();
};

}  // namespace sonde::window
