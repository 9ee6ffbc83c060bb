// The commands of window scripts about the names of outputs: labels, vocabulary.

#include <QFileInfo>

#include "ui/context/outputs.h"
#include "ui/window/main_window.h"
#include "ui/window/script_verbs.h"

namespace sonde::window {

namespace {

using Choice = session::outputs::Choice;

/// Of every output of the model: those that have no use for it take no notice.
base::Result<void> chooseFile(context::InspectorContext& context, const QString& file, std::string Choice::*which) {
    if (!QFileInfo::exists(file)) return base::usageError("there is no such file", file.toStdString());
    context::Outputs& outputs = context::outputsOf(context);
    for (const document::NamedNode& output : context.model().document()->outputs) {
        Choice choice = outputs.choiceOf(output.name);
        choice.*which = file.toStdString();
        outputs.choose(choice);
    }
    return {};
}

}  // namespace

base::Result<void> ScriptVerbs::labelOutputs(const QString& file) {
    return chooseFile(m_window.context(), toRead(file), &Choice::labels);
}

base::Result<void> ScriptVerbs::readTokens(const QString& file) {
    return chooseFile(m_window.context(), toRead(file), &Choice::vocabulary);
}

}  // namespace sonde::window
