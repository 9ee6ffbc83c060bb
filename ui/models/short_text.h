#pragma once

#include <QString>
#include <QStringList>

#include <functional>
#include <string_view>

namespace sonde::models {

/// Text of a file as the window shows it: at most 300 characters, the middle left out of longer ones; blanks for line
/// ends, control characters, and signs that turn the direction of what follows.
QString oneLine(const QString& text);
/// The same of bytes.
QString shown(std::string_view text);
/// The same of a text that has room for 2000 characters.
QString paragraph(std::string_view text);
/// The same within a sentence: at most 60 characters.
QString brief(std::string_view text);

/// A name without what it shares with those beside it in a list, up to a whole word of it: "…2_conv1" of
/// "encoder_layer_2_conv1" beside "encoder_layer_1_conv1". As it is if little would be saved.
QString withoutSharedStart(const QString& name, const QStringList& beside);
/// A name in a place that is too narrow for it, so that it differs from those beside it: as many whole words of its end
/// as fit, "…1.0/conv1/Conv_output_0"; if another one ends like that, from where it differs on, which may not fit.
QString toldApart(const QString& name, const QStringList& beside, const std::function<bool(const QString&)>& fits);
/// The same where it has to fit: the words that differ and as much of the end as there is room for,
/// "…denseblock3…conv2/conv2d", "…else…0…Conv_output_0". Empty if not even that fits.
QString fittedApart(const QString& name, const QStringList& beside, const std::function<bool(const QString&)>& fits);

}  // namespace sonde::models
