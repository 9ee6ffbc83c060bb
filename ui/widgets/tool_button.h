#pragma once

#include <QString>

class QToolButton;
class QWidget;

namespace sonde::widgets {

/// A flat button with an icon of the theme; `text` is its tool tip and its name for screen readers.
QToolButton* makeToolButton(const QString& icon, const QString& text, QWidget* parent);

}  // namespace sonde::widgets
