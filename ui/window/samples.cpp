#include "ui/window/samples.h"

#include <QCoreApplication>

#include <filesystem>

#include "core/session/samples/samples.h"

namespace sonde::window {

namespace {

std::filesystem::path programFolder() { return QCoreApplication::applicationDirPath().toStdU16String(); }

QString textOf(const std::string& text) { return QString::fromStdString(text); }

/// In the language of the window.
QString tr(const std::string& text) { return QCoreApplication::translate("Samples", text.c_str()); }

Sample shown(const session::Sample& sample) {
    Sample shown{.id = textOf(sample.id),
                 .title = tr(sample.title),
                 .description = tr(sample.description),
                 .next = tr(sample.next),
                 .model = textOf(sample.model),
                 .inputs = {},
                 .picture = textOf(sample.picture),
                 .icon = textOf(sample.icon),
                 .runs = sample.runs};
    for (const session::SampleInput& input : sample.inputs)
        shown.inputs.push_back({textOf(input.name), textOf(input.source), textOf(input.preset)});
    return shown;
}

}  // namespace

QString resourcePath(const QString& relative) {
    return textOf(session::resourcePath(programFolder(), relative.toStdString()));
}

std::vector<Sample> samples() {
    std::vector<Sample> all;
    for (const session::Sample& sample : session::samples(programFolder())) all.push_back(shown(sample));
    return all;
}

}  // namespace sonde::window
