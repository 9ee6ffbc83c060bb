// Of the tensor panel: what token ids are called.

#include "core/session/session.h"
#include "core/session/tokens/token_names.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/panels/tensor_viewer/value_pair.h"

namespace sonde::panels {

void TensorViewerPanel::connectTokens(context::Outputs& outputs) {
    // Of a run, or of a vocabulary that was chosen for its outputs.
    connect(&outputs, &context::Outputs::changed, this, [this, &outputs] { findTokens(outputs); });
    connect(&m_runs, &context::Runs::runFinished, this, [this, &outputs] { findTokens(outputs); });
    connect(&m_opened, &context::OpenModel::documentClosed, this, [this] {
        m_tokensJob.abandon();
        for (TensorViewer* viewer : {m_pair->first(), m_pair->second()}) viewer->setTokens(nullptr);
    });
}

void TensorViewerPanel::findTokens(const context::Outputs& outputs) {
    if (!m_opened.isOpen()) return;
    std::string vocabulary;
    for (const session::outputs::ShownOutput& output : outputs.all())
        if (vocabulary.empty()) vocabulary = output.choice.vocabulary;
    m_tokensJob.start(
        [request = session::tokenNamesRequest(m_session, vocabulary)](const base::WorkContext&) {
            return std::make_shared<const session::TokenNames>(session::findTokenNames(request));
        },
        [this](const std::shared_ptr<const session::TokenNames>& names) {
            for (TensorViewer* viewer : {m_pair->first(), m_pair->second()}) viewer->setTokens(names);
        });
}

}  // namespace sonde::panels
