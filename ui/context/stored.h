#pragma once

#include <QString>
#include <QVariant>

#include <functional>

class QSettings;

namespace sonde::context {

/// The user's settings, written behind: QSettings waits for the disk with every write, which may take longer than any
/// frame, so a worker does it. What is stored is read as stored at once, and is on the disk when waitUntilStored()
/// returns. On any thread.

/// An invalid value removes the key and what lies under it.
void store(const QString& key, const QVariant& value);

/// The value last stored, else what the settings' file says, else `fallback`.
QVariant stored(const QString& key, const QVariant& fallback = {});

/// Has `write` called with the settings on a worker, after what was asked for before it. stored() does not know its
/// keys.
void storeLater(std::function<void(QSettings&)> write);

/// Whether nothing is being written or waits to be.
bool isEverythingStored();

void waitUntilStored();

}  // namespace sonde::context
