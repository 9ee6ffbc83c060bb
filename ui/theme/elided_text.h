#pragma once

#include <QString>

#include <functional>

class QFontMetrics;

namespace sonde::theme {

/// The text, or as much of it as fits with "…" for the rest: at its end (Qt::ElideRight), its beginning or its middle.
/// A number is shown whole or not at all, with its sign, its groups of thousands and its exponent: of "parameters
/// 714,996" never "parameters …996". `width` measures a part of the text.
QString elidedText(const QString& text, Qt::TextElideMode mode, double room,
                   const std::function<double(QStringView)>& width);
QString elidedText(const QString& text, Qt::TextElideMode mode, int room, const QFontMetrics& metrics);

}  // namespace sonde::theme
