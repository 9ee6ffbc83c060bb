#pragma once

#include <QIcon>
#include <QStringList>

#include "ui/theme/color_role.h"

namespace sonde::theme {

/// The line icon of this name ("run", "watch", … : resources/icons/NAME.svg), drawn in the colour of ordinary text and
/// in that of disabled text when disabled. It follows the theme by itself, at any pixel density.
/// An unknown name gives a null icon.
QIcon icon(const QString& name);

/// The same in the colour of another role: a watch mark, an error.
QIcon icon(const QString& name, ColorRole role);

/// The picture of an icon for a canvas: `size` device-independent pixels square, in any colour.
QPixmap iconPixmap(const QString& name, const QColor& color, int size, qreal devicePixelRatio);

/// The application's own coloured icon.
QIcon applicationIcon();

/// The names of all icons.
QStringList iconNames();

}  // namespace sonde::theme
