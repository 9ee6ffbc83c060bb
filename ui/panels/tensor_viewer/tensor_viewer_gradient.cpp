// Of the tensor panel: saliency.

#include <QToolButton>

#include "core/session/why/place_text.h"
#include "ui/actions/action_registry.h"
#include "ui/panels/tensor_viewer/gradient_bar.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"

namespace sonde::panels {

using context::Gradients;

void TensorViewerPanel::connectGradients() {
    connect(&m_gradients, &Gradients::changed, this, [this] {
        if (!m_gradients.isAsked()) setGradientShown(false);
        refreshOverlay();
        if (showsGradient() || m_viewsGradient) refresh();
    });
    // The picture is where it is seen best.
    connect(&m_gradients, &Gradients::found, this, [this] {
        const bool isAtElement = !m_node.valid() || m_node == m_gradients.of().node;
        if (isAtElement && !m_gradients.inputs().empty()) m_navigation.navigateTo(m_gradients.inputs().front());
    });
    connect(m_gradient->showButton(), &QToolButton::clicked, this, &TensorViewerPanel::setGradientShown);
    // What was asked last is seen.
    connect(&m_why, &context::Why::asked, &m_gradients, &Gradients::clear);
}

/// Of the element that is pointed at, else of the one that stands out.
void TensorViewerPanel::askGradient() {
    const auto& pointed = m_why.pointed();
    const bool isPointed = pointed && pointed->node == m_node && m_node.valid();
    m_gradients.ask(isPointed ? *pointed : context::Why::Place{m_node, {}, {}}, shownIteration());
    m_gradients.lookAt(m_node);
}

bool TensorViewerPanel::showsGradient() const {
    const Gradients::Gradient* const gradient = m_gradients.by(m_node);
    return m_wantsGradient && gradient && gradient->tensor.defined();
}

void TensorViewerPanel::setGradientShown(bool on) {
    if (on && !m_gradients.isAsked()) askGradient();
    m_gradient->showButton()->setChecked(on);
    if (m_actions) m_actions->action(QStringLiteral("values.gradient"))->setChecked(on);
    if (std::exchange(m_wantsGradient, on) == on) return;
    refreshOverlay();
    refresh();
}

/// How large the gradient by each element is, as a tint over the value.
std::shared_ptr<const ElementOverlay> TensorViewerPanel::gradientOverlay() const {
    const Gradients::Gradient* const gradient = m_gradients.by(m_node);
    if (!gradient || !gradient->isReached || showsGradient()) return nullptr;
    auto overlay = std::make_shared<ElementOverlay>();
    const tensor::Shape& shape = overlay->shape = gradient->tensor.shape();
    for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
        overlay->begin.push_back(0);
        overlay->end.push_back(shape[axis]);
    }
    overlay->shares = gradient->magnitudes;
    overlay->text = tr("Heat map and image are tinted by the magnitude of the gradient");
    return overlay;
}

/// Command `gradient`: NODE[INDEX], or words.
base::Result<void> TensorViewerPanel::showGradientOf(const QString& what) {
    if (!m_opened.isOpen()) return base::usageError("no model is open");
    if (what == u"off") m_gradients.clear();
    else if (what == u"show" || what == u"hide") setGradientShown(what == u"show");
    else if (what.isEmpty()) askGradient();
    else {
        const std::string bytes = what.toStdString();
        session::why::PlaceProblem problem;
        const auto read = session::why::readPlace(bytes, problem);
        if (!read) return problem.error;
        if (!read->rest.empty()) return base::usageError("unexpected '" + std::string(read->rest) + "'");
        SONDE_ASSIGN(const graph::NodeId node, m_opened.document()->findNode(read->node));
        m_navigation.navigateTo(node);
        m_gradients.ask({node, {}, read->index});
        m_gradients.lookAt(node);
    }
    return {};
}

}  // namespace sonde::panels
