#pragma once

#include <QString>

#include <functional>

namespace sonde::canvas {

/// Whether a title is that of repeated blocks: "features.denselayer2 … 5  × 4".
bool isRunTitle(const QString& title);

/// Such a title in a narrow place: which blocks and how many stay, the path before them goes: "denselayer2 … 5  × 4",
/// "2 … 5  × 4", "× 4". Never with a second "…". Empty if not even the count fits.
QString shortRunTitle(const QString& title, const std::function<bool(const QString&)>& fits);

}  // namespace sonde::canvas
