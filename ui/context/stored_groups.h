#pragma once

#include <QString>
#include <QVariantMap>

#include <functional>

namespace sonde::context {

/// Groups of the user's settings, written behind as single values are (see stored.h): a group is what is below a key.
/// On any thread.
using Group = QVariantMap;

/// Has `changes` made and written on a worker: making them may take longer than a frame may last. An invalid value
/// removes the key with all below it. storedGroup() knows them at once.
void storeGroup(const QString& key, std::function<Group()> changes);

/// What is below `key`, with what was stored last. While something is being written, it does not wait for that: it
/// answers with what this process wrote or fetched last. Only of a group that was neither it reads the file.
Group storedGroup(const QString& key);

/// Reads the group from the file for storedGroup(). For workers: waits for the disk.
void fetchGroup(const QString& key);

}  // namespace sonde::context
