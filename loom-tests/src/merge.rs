//! All orders in which the operations of several threads can follow one another.

/// Calls `each` with every merge of `lengths[i]` operations of thread `i`, given as a list of thread numbers.
pub fn merges(lengths: &[usize], each: &mut impl FnMut(&[usize])) {
    let mut order = Vec::with_capacity(lengths.iter().sum());
    extend(&mut lengths.to_vec(), &mut order, each);
}

fn extend(left: &mut [usize], order: &mut Vec<usize>, each: &mut impl FnMut(&[usize])) {
    let mut is_whole = true;
    for thread in 0..left.len() {
        if left[thread] == 0 {
            continue;
        }
        is_whole = false;
        left[thread] -= 1;
        order.push(thread);
        extend(left, order, each);
        order.pop();
        left[thread] += 1;
    }
    if is_whole {
        each(order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_two_make_six() {
        let mut all = Vec::new();
        merges(&[2, 2], &mut |order| all.push(order.to_vec()));
        all.dedup();
        assert_eq!(all.len(), 6);
        assert!(all.iter().all(|order| order.iter().filter(|&&thread| thread == 0).count() == 2));
    }
}
