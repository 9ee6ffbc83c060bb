// Of the tensor panel: "why this value", with what reaches an element drawn over the value.

#include <QAction>
#include <QMenu>
#include <QSpinBox>

#include "ui/actions/action_registry.h"
#include "ui/models/short_text.h"
#include "ui/panels/tensor_viewer/tensor_viewer.h"
#include "ui/panels/tensor_viewer/tensor_viewer_panel.h"
#include "ui/widgets/number_text.h"

namespace sonde::panels {

void TensorViewerPanel::connectWhy() {
    connect(m_viewer, &TensorViewer::elementPointed, this,
            [this](const std::vector<std::int64_t>& index) { m_why.setPointed(placeOf(index), shownIteration()); });
    // Who has asked once asks by each click.
    connect(m_viewer, &TensorViewer::elementPicked, this, [this](const std::vector<std::int64_t>& index) {
        const context::Why::Place place = placeOf(index);
        m_why.setPointed(place, shownIteration());
        const context::Why::Hop* const hop = m_why.current();
        if (!hop || (hop->place.node == place.node && hop->place.index == index && hop->place.state == 0)) return;
        m_hop = place;
        m_why.ask(place, shownIteration());
    });
    connect(&m_why, &context::Why::changed, this, &TensorViewerPanel::followHop);
    connect(&m_why, &context::Why::fieldChanged, this, &TensorViewerPanel::refreshOverlay);
    m_viewer->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(m_viewer, &QWidget::customContextMenuRequested, this, &TensorViewerPanel::showMenu);
}

context::Why::Place TensorViewerPanel::placeOf(const std::vector<std::int64_t>& index) const {
    return {m_node, m_viewer->member(), index};
}

/// The iteration of a loop that is chosen; none where there is no choice.
std::optional<std::size_t> TensorViewerPanel::shownIteration() const {
    if (m_iterations->isHidden() || m_iterationOf != m_node) return std::nullopt;
    return static_cast<std::size_t>(m_iteration->value());
}

/// Shows the element of a hop once, when it comes to it: after that the user may look elsewhere.
void TensorViewerPanel::followHop() {
    const context::Why::Hop* const hop = m_why.current();
    if (!hop) {
        m_hop = {};
        return;
    }
    const context::Why::Place& place = hop->place;
    if (place.node != m_node || place.state > 0 || !m_viewer->hasValue()) return;  // the value has no such element
    if (place.node == m_hop.node && place.index == m_hop.index && place.member == m_hop.member) return;
    m_hop = place;
    if (!place.index.empty()) m_viewer->showElement(place.member, place.index);
}

/// Of the element that was asked about first: which elements of the shown value reach it.
void TensorViewerPanel::refreshOverlay() {
    if (m_gradients.isAsked()) return m_viewer->setOverlay(gradientOverlay());
    const session::why::Box* const box = m_node.valid() && m_why.isAsked() ? m_why.fieldOf(m_node) : nullptr;
    if (!box || box->node == m_why.trail().front().place.node) return m_viewer->setOverlay(nullptr);
    auto overlay = std::make_shared<ElementOverlay>();
    overlay->shape = box->shape;
    overlay->begin = box->begin;
    overlay->end = box->end;
    QStringList sizes;
    for (std::size_t axis = 0; axis < box->begin.size(); ++axis)
        sizes << QString::number(box->end[axis] - box->begin[axis]);
    overlay->text =
        tr("Receptive field of %1: %2 of %3%4")
            .arg(models::oneLine(m_why.text(m_why.trail().front().place)), sizes.join(QStringLiteral("\u00d7")),
                 QString::fromStdString(box->shape.text()), box->isExact ? QString() : tr(", at most"));
    if (const session::why::Share* const share = m_why.shareOf(m_node)) {
        overlay->shares = share->map;
        overlay->text += tr("; tinted by contribution, %1 in all").arg(widgets::percentText(share->sum));
        if (const auto largest = share->largest(1); !largest.empty())
            overlay->text += tr(", largest %1 at %2")
                                 .arg(widgets::percentText(largest.front().second),
                                      m_why.text({m_node, {}, largest.front().first}).section(u'[', -1).prepend(u'['));
    }
    m_viewer->setOverlay(std::move(overlay));
}

void TensorViewerPanel::showMenu(const QPoint& place) {
    if (!m_viewer->hasValue() || !m_whyAction) return;
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(m_whyAction);
    for (const char* id : {"values.saliency", "values.copy", "values.save"})
        if (QAction* action = m_actions ? m_actions->action(QLatin1String(id)) : nullptr) menu->addAction(action);
    menu->popup(m_viewer->mapToGlobal(place));
}

}  // namespace sonde::panels
