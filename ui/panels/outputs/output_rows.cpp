#include "ui/panels/outputs/output_rows.h"

#include <QCoreApplication>
#include <QFontInfo>
#include <QPainter>

#include <algorithm>
#include <cmath>

#include "ui/models/short_text.h"
#include "ui/theme/scales.h"
#include "ui/theme/theme.h"

namespace sonde::panels {

namespace outputs = session::outputs;

namespace {

struct OutputTable {
    QStringList titles;
    std::vector<OutputRow> rows;
    int barColumn = OutputRows::kNoBars;
};

QString tr(const char* text) { return QCoreApplication::translate("OutputRows", text); }

QString percentText(double share) { return QString::number(100 * share, 'f', 1) + QStringLiteral(" %"); }
QString shortNumber(double value) { return QString::number(value, 'g', 5); }

OutputTable tableOf(std::monostate) { return {}; }
OutputTable tableOf(const outputs::ImagePixels&) { return {}; }
OutputTable tableOf(const outputs::Waveform&) { return {}; }
OutputTable tableOf(const outputs::Scalar&) { return {}; }

/// Without shares bars are as long as the scores, which are from 0 to 1.
OutputTable tableOf(const outputs::Classes& classes) {
    OutputTable table{{tr("Class"), classes.hasShares ? tr("Share") : tr("Score"), tr("Value"), tr("Index")}, {}, 1};
    for (const outputs::ClassScore& each : classes.top) {
        const double part = classes.hasShares ? each.share : each.value;
        table.rows.push_back(
            {{classText(each.index, each.name), classes.hasShares ? percentText(each.share) : shortNumber(each.value),
              shortNumber(each.value), QString::number(each.index)},
             std::clamp(part, 0.0, 1.0)});
    }
    return table;
}

OutputTable tableOf(const outputs::TokenText& text) {
    const auto shown = [](const outputs::TokenText::Token& token) {
        return token.text.empty() ? QStringLiteral("\u2013") : models::shown(token.text);
    };
    if (text.isFromLogits) {
        OutputTable table{{tr("Next token"), tr("Share"), tr("Id")}, {}, 1};
        for (const auto& token : text.next)
            table.rows.push_back({{shown(token), percentText(token.share), QString::number(token.id)}, token.share});
        return table;
    }
    OutputTable table{{tr("Position"), tr("Token"), tr("Id")}, {}, OutputRows::kNoBars};
    for (std::size_t i = 0; i < text.tokens.size(); ++i)
        table.rows.push_back({{QString::number(i), shown(text.tokens[i]), QString::number(text.tokens[i].id)}});
    return table;
}

OutputTable tableOf(const outputs::Boxes& boxes) {
    OutputTable table{{tr("Class"), tr("Score"), tr("Left"), tr("Top"), tr("Right"), tr("Bottom")}, {}, 1};
    const auto pixel = [](double at) { return QString::number(at, 'f', 1); };
    for (const outputs::Boxes::Box& box : boxes.boxes) {
        const bool hasScore = !std::isnan(box.score);
        table.rows.push_back({{box.index < 0 ? QStringLiteral("\u2013") : classText(box.index, box.name),
                               hasScore ? QString::number(box.score, 'f', 3) : QString(), pixel(box.left),
                               pixel(box.top), pixel(box.right), pixel(box.bottom)},
                              hasScore ? std::clamp(box.score, 0.0, 1.0) : -1,
                              colorOfClass(std::max<std::int64_t>(box.index, 0))});
    }
    return table;
}

OutputTable tableOf(const outputs::Masks& masks) {
    OutputTable table{{tr("Class"), tr("Share"), tr("Index")}, {}, 1};
    for (const outputs::Masks::Part& part : masks.parts)
        table.rows.push_back({{classText(part.index, part.name), percentText(part.share), QString::number(part.index)},
                              part.share,
                              colorOfClass(part.index)});
    return table;
}

OutputTable tableOf(const outputs::Table& elements) {
    OutputTable table;
    for (const std::string& title : elements.columns) table.titles << models::shown(title);
    for (const std::vector<std::string>& row : elements.rows) {
        OutputRow shown;
        for (const std::string& cell : row) shown.cells << models::shown(cell);
        table.rows.push_back(std::move(shown));
    }
    return table;
}

}  // namespace

int colorOfClass(std::int64_t index) {
    // The last colour of the set is for what is in none of its kinds.
    return static_cast<int>(index % (theme::kSetColors - 1));
}

QString classText(std::int64_t index, const std::string& name) {
    return name.empty() ? tr("class %1").arg(index) : models::shown(name);
}

void OutputRows::show(const outputs::Content& content) {
    beginResetModel();
    OutputTable table = std::visit([](const auto& each) { return tableOf(each); }, content);
    m_titles = std::move(table.titles);
    m_rows = std::move(table.rows);
    m_barColumn = table.barColumn;
    endResetModel();
}

int OutputRows::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

int OutputRows::columnCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_titles.size());
}

QVariant OutputRows::data(const QModelIndex& index, int role) const {
    if (!index.isValid()) return {};
    const OutputRow& row = m_rows[static_cast<std::size_t>(index.row())];
    if (role == Qt::DisplayRole || role == Qt::ToolTipRole) return row.cells.value(index.column());
    if (role == kPartRole && index.column() == m_barColumn && row.part >= 0) return row.part;
    if (role == kColorRole && index.column() == 0 && row.color >= 0) return row.color;
    return {};
}

QVariant OutputRows::headerData(int section, Qt::Orientation orientation, int role) const {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    return m_titles.value(section);
}

void OutputRowDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
    RowDelegate::initStyleOption(option, index);
    if (m_textScale != 1) {
        const double size = QFontInfo(option->font).pixelSize() * m_textScale;
        option->font.setPixelSize(qRound(size));
        option->fontMetrics = QFontMetrics(option->font);
    }
    const QVariant color = index.data(OutputRows::kColorRole);
    if (!color.isValid()) return;
    const int side = option->fontMetrics.height() * 2 / 3;
    QPixmap sign(side, side);
    sign.fill(theme::setColors(color.toInt(), theme::Theme::instance().scheme()).stroke);
    option->features |= QStyleOptionViewItem::HasDecoration;
    option->icon = QIcon(sign);
    option->decorationSize = {side, side};
}

void OutputRowDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
    RowDelegate::paint(painter, option, index);
    const QVariant part = index.data(OutputRows::kPartRole);
    if (!part.isValid()) return;
    constexpr double kHeight = 4;
    const QRectF room = QRectF(option.rect).adjusted(4, 0, -4, 0);
    painter->save();
    painter->setPen(Qt::NoPen);
    painter->setBrush(theme::color(theme::ColorRole::PlotGrid));
    painter->drawRect(QRectF(room.left(), room.bottom() - 1, room.width(), 1));
    painter->setBrush(theme::color(theme::ColorRole::PlotBar));
    painter->drawRect(QRectF(room.left(), room.bottom() - kHeight, room.width() * part.toDouble(), kHeight));
    painter->restore();
}

}  // namespace sonde::panels
