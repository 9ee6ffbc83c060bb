#include "app/verbs/session_edits.h"

#include "app/interrupt.h"
#include "app/verbs/options.h"
#include "core/document/session_model.h"
#include "core/session/edits/edited_model.h"
#include "core/session/session.h"

namespace sonde::app {

namespace {

/// Written for the shapes that values have in a run; `refused`: why it was not without them.
base::Result<std::shared_ptr<const document::Document>> withTypesOfRun(const document::Document& document,
                                                                       const session::Edits& edits,
                                                                       const InputChoice& inputs, base::Error refused) {
    if (!session::haveOpenTypes(document, edits)) return refused;
    auto cases = inputsFor(document, inputs);
    if (!cases) {
        refused.hint = "name inputs with --input-data, and it is written for their shapes: " + cases.error().what;
        return refused;
    }
    SONDE_ASSIGN(const session::TypesOfRun types,
                 session::typesOfRun(document, edits, cases->front().values, commandLineWork()));
    return session::editedDocument(document, edits, types);
}

}  // namespace

base::Result<std::shared_ptr<const document::Document>> withSessionEdits(
    std::shared_ptr<const document::Document> document, const InputChoice& inputs) {
    if (!document->session || document->session->file.edits.empty()) return document;
    session::Session session;
    showIn(session, document, true);
    auto edited = session::editedDocument(*document, session.edits());
    if (!edited) {
        SONDE_ASSIGN(edited, withTypesOfRun(*document, session.edits(), inputs, std::move(edited).error()));
    }
    const base::Diagnostics& notes = (*edited)->diagnostics;
    for (std::size_t i = document->diagnostics.size(); i < notes.size(); ++i) printWarning(notes[i].what);
    return edited;
}

}  // namespace sonde::app
