#include "ui/context/edits.h"

#include <QFileInfo>

#include <algorithm>

#include "core/exec/flatten.h"
#include "core/export/write_export.h"
#include "core/expression/expression.h"
#include "core/session/edits/edit_count.h"
#include "core/session/edits/edit_line.h"
#include "core/session/edits/edited_model.h"
#include "core/session/output_check.h"
#include "ui/context/debugger.h"
#include "ui/context/messages.h"

namespace sonde::context {

using graph::NodeId;
using session::Edit;
using session::EditPlace;

Edits::Edits(session::Session& session, Debugger& debugger, Messages& messages)
    : m_session(session), m_debugger(debugger), m_messages(messages) {}

Edits::~Edits() { m_saveJob.cancel(); }

bool Edits::isCounterfactual() const { return m_debugger.isShown() && m_session.debugger().isCounterfactual(); }

QString Edits::shownText() const {
    if (!areOn()) return {};
    const QString count = QString::fromStdString(session::editCountText(session::countingEdits(m_session.edits())));
    if (!isCounterfactual() || m_debugger.shown() == ShownValues::Baseline) return tr("without the edits");
    return m_debugger.shown() == ShownValues::Difference ? tr("difference made by %1").arg(count)
                                                         : tr("with %1").arg(count);
}

bool Edits::isEdited(NodeId node) const {
    return std::ranges::any_of(all(), [node](const Entry& entry) {
        return entry.counts() && std::ranges::find(entry.ready->nodes(), node) != entry.ready->nodes().end();
    });
}

bool Edits::isRecomputed(NodeId node) const { return isCounterfactual() && m_session.edits().reach(node); }

QStringList Edits::textsOf(NodeId node) const {
    QStringList texts;
    for (const Entry& entry : all())
        if (entry.counts() && std::ranges::find(entry.ready->nodes(), node) != entry.ready->nodes().end())
            texts << QString::fromStdString(session::editText(entry.edit));
    return texts;
}

QString Edits::titleOf(const Entry& entry) {
    const QString name = QString::fromStdString(entry.edit.target.name);
    return entry.edit.slice.empty() ? name
                                    : QStringLiteral("%1[%2]").arg(name, QString::fromStdString(entry.edit.slice));
}

/// What editText() has behind the name.
QString Edits::changeOf(const Entry& entry) {
    Edit edit = entry.edit;
    edit.slice.clear();
    const std::string name = expression::quoted(edit.target.name);
    return QString::fromStdString(session::editText(edit).substr(name.size())).trimmed();
}

// --- reading what is typed -------------------------------------------------------------------------------------------

base::Result<std::pair<NodeId, Edit>> Edits::read(const Typed& typed, EditPlace& place) const {
    place = {};
    if (!m_session.document()) return base::usageError("no model is open");
    const std::string slice = typed.slice.trimmed().toStdString();
    SONDE_ASSIGN(const NodeId node,
                 session::ReadyEdit::find(*m_session.document(), typed.node.trimmed().toStdString()));
    // Its place is that of the text without what goes before.
    const bool isSet = typed.operation == u"=";
    const QString before = QStringLiteral("x ") + typed.operation + u' ';
    const std::string line = (before + typed.argument.trimmed()).toStdString();
    std::size_t column = 1;
    auto read = isSet ? session::parseSet(line, column) : session::parseEdit(line, column);
    if (!read) {
        const auto begin = static_cast<std::size_t>(before.size());
        place = {EditPlace::Part::Value, column > begin ? column - begin : 1};
        return std::move(read).error();
    }
    Edit edit = std::move(read->edit);
    edit.slice = slice;
    return std::pair(node, std::move(edit));
}

base::Result<std::pair<NodeId, Edit>> Edits::readLine(const QString& line, bool isSet) const {
    if (!m_session.document()) return base::usageError("no model is open");
    std::size_t column = 1;
    SONDE_ASSIGN(session::EditLine read, isSet ? session::parseSet(line.toStdString(), column)
                                               : session::parseEdit(line.toStdString(), column));
    SONDE_ASSIGN(const NodeId node, session::ReadyEdit::find(*m_session.document(), read.node));
    return std::pair(node, std::move(read.edit));
}

// --- changing --------------------------------------------------------------------------------------------------------

void Edits::add(NodeId node, const Edit& edit, QObject* asker) {
    if (!node.valid()) return;
    Edit made = edit;
    // Who opens the session elsewhere finds the file again.
    if (made.kind == Edit::Kind::File)
        made.text = QFileInfo(QString::fromStdString(made.text)).absoluteFilePath().toStdString();
    change([node, made = std::move(made)](
               session::Edits& edits, const session::Edits::Present& present, EditPlace& place,
               const base::WorkContext& work) { return edits.add(node, made, present, place, work); },
           true, asker);
}

namespace {

/// A change that cannot fail.
template <typename Function>
session::Session::EditChange listChange(Function function) {
    return [function](session::Edits& edits, const session::Edits::Present&, EditPlace&,
                      const base::WorkContext& work) -> base::Result<void> {
        function(edits, work);
        return {};
    };
}

}  // namespace

void Edits::undo() {
    change(listChange([](session::Edits& edits, const base::WorkContext& work) { edits.undo(work); }), false);
}

void Edits::redo() {
    change(listChange([](session::Edits& edits, const base::WorkContext& work) { edits.redo(work); }), true);
}

void Edits::remove(int index) {
    if (index < 0) return;
    const auto at = static_cast<std::size_t>(index);
    change(listChange([at](session::Edits& edits, const base::WorkContext& work) { edits.remove(at, work); }), false);
}

void Edits::withdraw(int index) {
    if (index < 0) return;
    const auto at = static_cast<std::size_t>(index);
    change(listChange([at](session::Edits& edits, const base::WorkContext& work) { edits.withdraw(at, work); }), false);
}

void Edits::setEnabled(int index, bool isEnabled) {
    if (index < 0) return;
    const auto at = static_cast<std::size_t>(index);
    change(listChange([at, isEnabled](session::Edits& edits, const base::WorkContext& work) {
               edits.setEnabled(at, isEnabled, work);
           }),
           isEnabled);
}

/// A run shows what an edit changes: without one it is begun, and then has the values that the edit is tried on.
void Edits::change(session::Session::EditChange change, bool beginsRun, QObject* asker) {
    if (!m_session.document()) return;
    m_waiting.push_back({std::move(change), asker});
    if (beginsRun && !m_session.debugger().hasBegun() && !m_session.debugger().isRunning()) m_debugger.resume();
    next();
}

void Edits::next() {
    if (m_waiting.empty() || !m_session.document() || m_session.debugger().isRunning()) return;
    Waiting first = std::move(m_waiting.front());
    m_waiting.pop_front();
    m_session.changeEdits(std::move(first.change),
                          [this, asker = first.asker](base::Result<void> made, const EditPlace& place) {
                              if (made) Q_EMIT accepted(asker);
                              else Q_EMIT refused(asker, made.error(), place);
                              // An edit that was made has moved the run, and the next one waits for that.
                              next();
                          });
}

void Edits::follow() { Q_EMIT changed(); }

void Edits::takeDocument() {
    const auto& document = m_session.document();
    if (!document) return;
    const bool isOther = std::exchange(m_location, document->location) != document->location;
    if (isOther && !document->session) (void)m_session.edits().restore({});
    Q_EMIT changed();
}

// --- runs and files --------------------------------------------------------------------------------------------------

void Edits::run() { m_debugger.restart(); }

void Edits::runBaseline() {
    if (m_session.document()) m_session.runs().run();
}

void Edits::begin(NodeId node, const QString& slice) { Q_EMIT begun(node, slice); }

void Edits::saveModel(const QString& path) {
    const auto& document = m_session.document();
    if (!document || path.isEmpty()) return;
    if (const auto checked = session::checkOutput(m_session, path.toStdU16String()); !checked)
        return m_messages.reportSaving(checked, {});
    const session::Inputs& inputs = m_session.inputs();
    m_saveJob.start(
        [document, edits = m_session.edits().quietCopy(), path,
         values = inputs.areAllGiven() && inputs.areRead() ? inputs.values() : std::vector<tensor::Value>()](
            const base::WorkContext& work) -> base::Result<std::vector<std::string>> {
            session::TypesOfRun types;
            if (!values.empty()) {
                SONDE_ASSIGN(types, session::typesOfRun(*document, edits, values, work));
            }
            const std::size_t before = document->diagnostics.size();
            SONDE_ASSIGN(const auto edited, session::editedDocument(*document, edits, types));
            exporting::ExportChoice choice;
            choice.format = exporting::ExportFormat::Onnx;
            SONDE_ASSIGN(const exporting::WrittenExport written,
                         exporting::writeExport(*edited, choice, path.toStdU16String(), values, work));
            std::vector<std::string> notes;
            for (std::size_t i = before; i < edited->diagnostics.size(); ++i)
                notes.push_back(edited->diagnostics[i].what);
            for (const base::Diagnostic& note : written.notes) notes.push_back(note.what);
            return notes;
        },
        [this, path](base::Result<std::vector<std::string>> notes) {
            if (!notes) return m_messages.reportSaving(notes.error(), {});
            for (const std::string& note : *notes)
                m_messages.report(Message{base::Severity::Warning, QString::fromStdString(note), {}, {}, {}});
            m_messages.reportSaving(
                {}, Message{base::Severity::Info, tr("Saved the model with its edits as %1").arg(path), {}, {}, {}});
            Q_EMIT saved(path);
        });
}

}  // namespace sonde::context
