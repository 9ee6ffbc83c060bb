#pragma once

#include <QStringList>

namespace sonde::window {

/// The models opened last, newest first, at most nine; kept in the settings.
class RecentFiles {
  public:
    static constexpr qsizetype kMaxFiles = 9;

    static QStringList list();
    static void add(const QString& location);
    static void remove(const QString& location);
    static void clear();
};

/// "resnet18.onnx" of a path, "resnet18" of zoo:resnet18.
QString shortLocation(const QString& location);

}  // namespace sonde::window
