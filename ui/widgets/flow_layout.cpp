#include "ui/widgets/flow_layout.h"

#include <QWidget>

#include <algorithm>

namespace sonde::widgets {

FlowLayout::FlowLayout(QWidget* parent, int horizontalGap, int verticalGap)
    : QLayout(parent), m_horizontalGap(horizontalGap), m_verticalGap(verticalGap) {
    setContentsMargins(0, 0, 0, 0);
}

FlowLayout::~FlowLayout() {
    for (QLayoutItem* item : m_items) delete item;
}

void FlowLayout::addItem(QLayoutItem* item) { m_items.push_back(item); }

QLayoutItem* FlowLayout::itemAt(int index) const {
    return index >= 0 && index < count() ? m_items[static_cast<std::size_t>(index)] : nullptr;
}

QLayoutItem* FlowLayout::takeAt(int index) {
    if (index < 0 || index >= count()) return nullptr;
    QLayoutItem* item = m_items[static_cast<std::size_t>(index)];
    m_items.erase(m_items.begin() + index);
    return item;
}

QSize FlowLayout::sizeHint() const {
    int width = 0, height = 0;
    for (QLayoutItem* item : m_items) {
        if (item->isEmpty()) continue;
        width += item->sizeHint().width() + (width > 0 ? m_horizontalGap : 0);
        height = std::max(height, item->sizeHint().height());
    }
    const QMargins margins = contentsMargins();
    return {width + margins.left() + margins.right(), height + margins.top() + margins.bottom()};
}

QSize FlowLayout::minimumSize() const {
    QSize size;
    for (QLayoutItem* item : m_items)
        if (!item->isEmpty()) size = size.expandedTo(item->minimumSize());
    const QMargins margins = contentsMargins();
    return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom());
}

void FlowLayout::setGeometry(const QRect& rect) {
    QLayout::setGeometry(rect);
    arrange(rect, true);
}

int FlowLayout::arrange(const QRect& rect, bool apply) const {
    const QRect area = rect.marginsRemoved(contentsMargins());
    int y = area.y();
    std::size_t next = 0;
    bool firstLine = true;
    while (next < m_items.size()) {
        std::vector<QLayoutItem*> line;
        int width = 0, height = 0;
        for (; next < m_items.size(); ++next) {
            QLayoutItem* item = m_items[next];
            if (item->isEmpty()) continue;
            const int wanted = item->sizeHint().width() + (line.empty() ? 0 : m_horizontalGap);
            if (!line.empty() && width + wanted > area.width()) break;
            line.push_back(item);
            width += wanted;
            height = std::max(height, item->sizeHint().height());
        }
        if (line.empty()) break;
        if (!firstLine) y += m_verticalGap;
        firstLine = false;
        int x = area.x();
        for (QLayoutItem* item : line) {
            const QSize size(std::min(item->sizeHint().width(), std::max(area.width(), item->minimumSize().width())),
                             item->sizeHint().height());
            if (apply) item->setGeometry(QRect(QPoint(x, y + (height - size.height()) / 2), size));
            x += size.width() + m_horizontalGap;
        }
        y += height;
    }
    return y - rect.y() + contentsMargins().bottom();
}

}  // namespace sonde::widgets
